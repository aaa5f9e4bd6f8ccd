/* A solver on a quadratic form that is known already, without rows: min over b of (1/2n)(square - 2
 * b'right + b'gram b) + its penalty. Pruning is the lasso on (G, G a). */
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

/* Everything but `normal`, `gram` and `progress` answers SCL_STATUS_UNSUPPORTED. The fit's loss is
 * that of the form, per target, summed. */
scl_status scl_quadratic_solve(const scl_quadratic *form, const scl_instance *solver, scl_fit *fit,
                               scl_error *error);

/* A problem whose verbs for rows answer SCL_STATUS_UNSUPPORTED. */
void scl_problem_refuse_rows(scl_problem *problem);

/* (square - 2 b'right + b'gram b)/total, summed over targets; NaN where there is no memory. */
double scl_squared_loss(const scl_symmetric *gram, const double *right, const double *square,
                        double total, size_t targets, const double *b);

#endif
