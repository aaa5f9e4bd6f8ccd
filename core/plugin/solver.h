/* Calls of solvers: every slot and ability is called here and its results are checked. */
#ifndef SCULLERY_SOLVER_H
#define SCULLERY_SOLVER_H

#include "plugin/instance.h"

/* Whether it takes blocks of this dtype. */
bool scl_solver_takes(const scl_instance *solver, scl_dtype dtype);
/* What it penalises. */
scl_penalty scl_solver_penalty(const scl_instance *solver);
/* Whether the solver says itself that it penalises a'a or a'Ga: its solution is then the same
 * function in other coordinates with the same penalty. */
bool scl_solver_shrinks(const scl_instance *solver, scl_penalty *penalty);
/* Whether it needs only the normal equations to solve this problem, for these values of its path
 * option (NULL: its own) (SCL_ABILITY_NORMAL). weighted: rows have weights. */
bool scl_solver_needs_normal_alone(const scl_instance *solver, const scl_problem *problem,
                                   const double *values, size_t count, bool weighted);
/* Whether its options ask for an unpenalised constant (SCL_ROLE_INTERCEPT; "auto": if its penalty
 * is L2, L1 or SIGNS). */
bool scl_solver_wants_intercept(const scl_instance *solver);
/* The option that its path varies, or NULL if it has no path. */
const char *scl_solver_path_option(const scl_instance *solver);
/* Whether that is worth while on compressed sparse rows alone. */
bool scl_solver_path_sparse_only(const scl_instance *solver);

/* One solve (values NULL), or one for each of `count` values of the path option
 * (SCL_STATUS_UNSUPPORTED if there is none). Coefficients and intercepts are written to the
 * caller's memory in out[k]. It fails for a solution without an outcome (SCL_STATUS_INTERNAL) or
 * with a coefficient that is not finite (SCL_STATUS_NUMERIC). */
scl_status scl_solver_solve(const scl_instance *solver, const scl_problem *problem,
                            const double *values, size_t count, scl_solution *const *out,
                            scl_error *error);

/* scl_parts.solve (part_solve.c): the solver's solution of the problem of another solver; weights:
 * n row weights in place of those of the problem, or NULL. Coefficients and intercept (NULL: none)
 * of *out are the caller's; the other members are set. */
scl_status scl_part_solve(const scl_instance *solver, const scl_problem *of, const double *weights,
                          scl_solution *out, scl_error *error);

/* SCL_ABILITY_MODEL: the solver must have it. _fit makes one model (values NULL), or one for each
 * of `count` values of the path option. The caller destroys models by scl_solver_destroy_model;
 * after a failure there are none. */
scl_status scl_solver_fit(const scl_instance *solver, const scl_problem *problem,
                          const double *values, size_t count, void **models,
                          scl_solution *const *out, scl_error *error);
/* scores (rows x targets, at stride) of a model for rows of either dtype. */
scl_status scl_solver_decide(const scl_instance *solver, const void *model,
                             const scl_const_block *rows, size_t targets, double *scores,
                             ptrdiff_t stride, scl_error *error);
scl_status scl_solver_save(const scl_instance *solver, const void *model, scl_archive *archive,
                           scl_error *error);
scl_status scl_solver_load(const scl_instance *solver, const scl_archive *archive, size_t features,
                           size_t targets, void **model, scl_error *error);
void scl_solver_destroy_model(const scl_instance *solver, void *model);

/* SCL_ABILITY_LOSS; without it the squared error sum_j (f_j - y_j)^2, and no probabilities. f and
 * y: scores and targets of one row, c numbers each. Numbers are NaN if the slot fails, and *error
 * says why. The slot is not called if *error has a failure already. */
double scl_solver_loss(const scl_instance *solver, size_t c, const double *f, const double *y,
                       scl_error *error);
/* out (c numbers) = a gradient or subgradient of the loss in f. */
scl_status scl_solver_loss_slope(const scl_instance *solver, size_t c, const double *f,
                                 const double *y, double *out, scl_error *error);
/* The greatest loss, and its Lipschitz constant in f, for |f| <= reach and |y| <= 1. */
double scl_solver_loss_bound(const scl_instance *solver, double reach, scl_error *error);
double scl_solver_loss_lipschitz(const scl_instance *solver, double reach, scl_error *error);
/* out (c numbers) = the probabilities of the classes at the scores f. *said is false, and out is
 * not used, if the loss defines none. */
scl_status scl_solver_probabilities(const scl_instance *solver, size_t c, const double *f,
                                    double *out, bool *said, scl_error *error);
/* How many scores each target of a regression has. */
size_t scl_solver_outputs(const scl_instance *solver);
/* out (c numbers) = the means of the targets of a regression at the scores f. *said is false, and
 * out is not used, if the scores are the predictions. */
bool scl_solver_gives_means(const scl_instance *solver);
scl_status scl_solver_means(const scl_instance *solver, size_t c, const double *f, double *out,
                            bool *said, scl_error *error);

/* *out = what the solver says that it takes (SCL_ABILITY_COST). false: it does not say. Of *out
 * `kept` alone is read. */
bool scl_solver_cost(const scl_instance *solver, const scl_problem *problem, const double *values,
                     size_t count, bool weighted, scl_cost *out);

/* SCL_ABILITY_OBJECTIVE: *value = the objective that the solver minimises, at these coefficients.
 * SCL_STATUS_UNSUPPORTED without the ability. */
scl_status scl_solver_objective(const scl_instance *solver, const scl_problem *problem,
                                const double *coefficients, const double *intercept, double *value,
                                scl_error *error);

#endif
