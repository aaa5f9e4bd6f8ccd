/* Ridge regression whose row weights change from one solve to the next, as in robust fits, for more
 * features than rows:
 *
 *   min_{a,q} sum_i v_i/2 (phi_i a + q - r_i)^2 + (ridge/2) ||a||^2,   a = Phi'C b,
 *
 *   (K b)_i + (ridge/v_i) b_i + q = r_i  where v_i > 0,   b_i = 0 where v_i = 0,   1'b = sum,
 *
 * K = C Phi Phi'C n x n, the problem's (C centres rows with an intercept, else C = I and q = 0). A
 * multiple of 11', which changes q alone, makes the system positive definite for every ridge. */
#ifndef SCULLERY_SHARED_WEIGHTED_DUAL_H
#define SCULLERY_SHARED_WEIGHTED_DUAL_H

#include "shared/refined_solve.h"

typedef struct weighted_dual {
  const scl_problem *problem;
  const scl_symmetric *outer; /* K; NULL: this problem is not for the dual */
  scl_symmetric *base;        /* K + tau 11', with an intercept */
  double tau;
  refined_system system;               /* of columns + 1 right-hand sides with an intercept */
  size_t columns;                      /* right-hand sides r */
  double *diagonal, *right, *x, *sums; /* the last: a column each */
} weighted_dual;

void weighted_dual_close(weighted_dual *w);

/* Leaves w->outer NULL where there are not more features than rows, or rows have weights. */
scl_status weighted_dual_open(weighted_dual *w, const scl_problem *problem, size_t columns,
                              scl_error *error);

/* b (n x columns) and q (columns; 0 without an intercept) for r = right (n x columns). sums: what
 * 1'b is to be, NULL: 0. */
scl_status weighted_dual_solve(const weighted_dual *w, const double *weights, double ridge,
                               const double *right, const double *sums, double *b, double *q,
                               refined_account *account, scl_error *error);

/* coefficients (D x columns) = Phi'C b, by one pass; b is centred in place. */
scl_status weighted_dual_recover(const weighted_dual *w, double *b, double *coefficients,
                                 scl_error *error);

#endif
