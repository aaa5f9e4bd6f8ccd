/* The learning problem that a solver gets (scl_problem), over a flow of rows with targets. Its
 * verbs are answered by walks over the rows. Problems that leave out different folds share the sums
 * of one walk. */
#ifndef SCULLERY_PROBLEM_H
#define SCULLERY_PROBLEM_H

#include "rows/flow.h"

/* What all problems on the same rows share (sums, Gram matrix, cached features): made when first
 * needed, kept until the training is destroyed. Several threads may solve on one training. */
typedef struct scl_training scl_training;
struct scl_whole_sums; /* rows/whole_sums.h */

/* The flow is copied; what it points to is borrowed and must outlive the training. classes: 0 or
 * the number of classes. allowance: bytes that caches may take. */
scl_status scl_training_create(const scl_flow *flow, scl_task task, size_t classes,
                               size_t allowance, scl_training **out, scl_error *error);
void scl_training_destroy(scl_training *training);
/* If the map of `few` is the first parameters of the map of `many` (scl_map_is_first_of), on the
 * same rows, and `many` has its sums: take the sums of `few` from them. Otherwise nothing
 * changes. */
scl_status scl_training_take_sums(scl_training *few, scl_training *many, scl_error *error);
/* The other way round, for whole-number features, whose sums are exact: if `few` has its sums, and
 * its features are the first of those of `many`, `many` makes only the sums that are new, to the
 * same bits. `few` must outlive the making. */
scl_status scl_training_know_sums(scl_training *many, scl_training *few, scl_error *error);

/* Make the sums over the rows, for problems with a constant or without, unless they exist; and
 * whether they exist. */
scl_status scl_training_sum(scl_training *training, bool constant, scl_error *error);
bool scl_training_has_sums(const scl_training *training);

/* Declare that only one problem will be solved, so that its matrix may reuse the memory of the
 * sums. */
void scl_training_once(scl_training *training);
/* Solve from the sums over the rows alone: the primal form, and no passes that correct a solution.
 * With `prints`, the next sums add the fingerprints of the rows to them. */
void scl_training_by_sums(scl_training *training, scl_fingerprints *prints);
/* *out = the exact sums over all rows, computed if they do not exist yet; the caller owns them.
 * constant: the sums are for problems with a constant. SCL_STATUS_UNSUPPORTED, with the reason, if
 * the sums of these features are not exact. */
scl_status scl_training_exact_sums(scl_training *training, bool constant,
                                   struct scl_whole_sums **out, scl_error *error);
/* Sum floating-point features in the units of the sums `like` (borrowed) and subtract the same
 * means, so that both sums can be added. */
void scl_training_like(scl_training *training, const struct scl_whole_sums *like);
/* Solve with these sums (borrowed) instead of rows. */
scl_status scl_training_give_sums(scl_training *training, struct scl_whole_sums *sums,
                                  scl_error *error);

/* One result of a solver. */
typedef struct scl_fit {
  scl_matrix coefficients; /* D x c, in the features' own scale (see scl_map_log_scale) */
  scl_matrix intercept;    /* 1 x c, zeros where none was asked for */
  scl_matrix pilot;        /* 1 x D: decisions are (phi - pilot) a + intercept; no storage: zeros */
  scl_solution solution;   /* coefficients points into the matrix */
  double loss; /* mean over the training rows of the squared error, summed over targets; NaN if the
                  sums were not computed */
  double
      passes; /* over the rows, besides those that made sums: of all fits of one solve together */
} scl_fit;

/* Solve without the rows of group `without` (-1: all rows), for `count` values of the solver's path
 * option (values NULL: one solve with the solver's own options). fits has room for max(count,
 * 1). */
scl_status scl_training_solve(scl_training *training, const scl_instance *solver, long without,
                              const double *values, size_t count, scl_fit *fits, scl_error *error);
void scl_fit_release(scl_fit *fit);
/* *value = the solver's objective at any coefficients (D x c) and intercept (1 x c, or NULL), on
 * all rows. SCL_STATUS_UNSUPPORTED if the solver does not define it. */
scl_status scl_training_objective(scl_training *training, const scl_instance *solver,
                                  const scl_matrix *coefficients, const scl_matrix *intercept,
                                  double *value, scl_error *error);

/* *out = G of the map's parameters (scl_map_gram), owned by the training. */
scl_status scl_training_gram(scl_training *training, const scl_symmetric **out, scl_error *error);

#endif
