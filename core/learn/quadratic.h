/* Solve a problem that is given by its normal equations, without rows:
 *
 *   min_b (1/2n)(square - 2 b'right + b'gram b) + the solver's penalty
 *
 * Pruning (learn/pruning.h) is the lasso with gram = G and right = G a. */
#ifndef SCULLERY_QUADRATIC_H
#define SCULLERY_QUADRATIC_H

#include "learn/problem.h"

typedef struct scl_quadratic {
  const scl_symmetric *gram; /* D x D */
  const double *right;       /* D x c */
  const double *square;      /* c */
  double total;              /* n in the objective */
  size_t targets;            /* c */
  const double *start;       /* D x c: where a solver that can starts from; or NULL */
} scl_quadratic;

/* Solve; the caller releases *fit. Of the problem's verbs, those that read rows fail with
 * SCL_STATUS_UNSUPPORTED. The fit's loss is scl_squared_loss at the solution. */
scl_status scl_quadratic_solve(const scl_quadratic *form, const scl_instance *solver, scl_fit *fit,
                               scl_error *error);

/* Make all verbs of a problem that read rows fail with SCL_STATUS_UNSUPPORTED. */
void scl_problem_refuse_rows(scl_problem *problem);

/* (square - 2 b'right + b'gram b)/total, summed over targets; a negative value of a target, which
 * is rounding, counts as 0. NaN if there is no memory for gram b. */
double scl_squared_loss(const scl_symmetric *gram, const double *right, const double *square,
                        double total, size_t targets, const double *b);

#endif
