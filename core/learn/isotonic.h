/* Probabilities from scores by isotonic regression: the nondecreasing function of the score that is
 * nearest to the classes (Zadrozny and Elkan 2002), fitted on scores of rows that the model has not
 * seen. */
#ifndef SCULLERY_ISOTONIC_H
#define SCULLERY_ISOTONIC_H

#include "algebra/matrix.h"

/* Linear between its knots, constant outside of them. */
typedef struct scl_isotonic {
  size_t count;
  double *scores, *shares;     /* count each: scores ascend, shares are in [0, 1] and do not fall */
  double positives, negatives; /* weight on either side, as counted in the targets */
} scl_isotonic;

/* Fit to n scores; targets > 0 are of the class. Both at strides. weights (n) or NULL; rows of
 * weight 0 do not count. SCL_STATUS_BAD_DATA where a score is not finite, or no row counts. */
scl_status scl_isotonic_fit(size_t n, const double *scores, ptrdiff_t score_stride,
                            const double *targets, ptrdiff_t target_stride, const double *weights,
                            scl_isotonic *out, scl_error *error);
void scl_isotonic_release(scl_isotonic *curve);

/* Whether knots are as stated above: SCL_STATUS_BAD_DATA if not. */
scl_status scl_isotonic_check(const scl_isotonic *curve, scl_error *error);

/* Probabilities from scores (n x c) and c curves: n x classes, made here. c = 1: two classes, the
 * second column that of the class; c > 1: one a class, each value divided by the sum of all, or all
 * equal where that is 0. */
scl_status scl_isotonic_probabilities(const scl_matrix *scores, const scl_isotonic *curves,
                                      scl_matrix *out, scl_error *error);

#endif
