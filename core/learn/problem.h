/* What a solver is handed, answered by streaming: scl_problem over a flow with targets. Several
 * problems (one for each fold left out) share one walk. */
#ifndef SCULLERY_PROBLEM_H
#define SCULLERY_PROBLEM_H

#include "rows/flow.h"

/* What problems of one training set share: made lazily, kept until destroyed. */
typedef struct scl_training scl_training;
struct scl_whole_sums; /* rows/whole_sums.h */

/* The flow's contents are borrowed and must outlive the training. */
scl_status scl_training_create(const scl_flow *flow, scl_task task, size_t classes,
                               size_t allowance, scl_training **out, scl_error *error);
void scl_training_destroy(scl_training *training);
/* Take the sums over the rows from a training on the same rows whose features are those of more
 * parameters (scl_map_is_first_of), where it has made them and they serve. */
scl_status scl_training_take_sums(scl_training *few, scl_training *many, scl_error *error);

/* One problem is solved, so that its sums may be spent on the matrix that the solver gets. */
void scl_training_once(scl_training *training);
/* Solve from the sums over the rows alone: the primal form, and no passes that correct a solution.
 * With `prints`, the next sums add the fingerprints of the rows to them. */
void scl_training_by_sums(scl_training *training, scl_fingerprints *prints);
/* The exact sums over all rows, which are made where they are not there; *out is the caller's
 * afterwards. constant: for problems with a constant. SCL_STATUS_UNSUPPORTED, with the reason: sums of these features are not exact. */
scl_status scl_training_exact_sums(scl_training *training, bool constant,
                                   struct scl_whole_sums **out, scl_error *error);
/* Sum float features in the units of other sums, and less the same means, so that they can be added to
 * these, which are borrowed. */
void scl_training_like(scl_training *training, const struct scl_whole_sums *like);
/* Solve with these sums, which are borrowed, in place of the rows. */
scl_status scl_training_give_sums(scl_training *training, struct scl_whole_sums *sums,
                                  scl_error *error);

/* One result of a solver. */
typedef struct scl_fit {
  scl_matrix coefficients; /* D x c, in the features' own scale (see scl_map_log_scale) */
  scl_matrix intercept;    /* 1 x c, zeros where none was asked for */
  scl_matrix pilot;        /* 1 x D: decisions are (phi - pilot) a + intercept; no storage: zeros */
  scl_solution solution;   /* coefficients points into the matrix */
  double loss; /* mean over rows of the summed squared error of the targets, on the rows that it
                  learnt from; NaN where the sums were not made */
} scl_fit;

/* Solve without the rows of group `without` (-1: all rows), for `count` values of the solver's path
 * option (values NULL: one solve with the solver's own options). fits has room for max(count,
 * 1). */
scl_status scl_training_solve(scl_training *training, const scl_instance *solver, long without,
                              const double *values, size_t count, scl_fit *fits, scl_error *error);
void scl_fit_release(scl_fit *fit);
/* What the solver minimises, at any coefficients (D x c) and intercept (1 x c, or NULL), on all
 * rows. SCL_STATUS_UNSUPPORTED where the solver does not say it. */
scl_status scl_training_objective(scl_training *training, const scl_instance *solver,
                                  const scl_matrix *coefficients, const scl_matrix *intercept,
                                  double *value, scl_error *error);

/* G of the features, shared: see scl_map_gram. */
scl_status scl_training_gram(scl_training *training, const scl_symmetric **out, scl_error *error);

#endif
