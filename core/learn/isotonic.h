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
  double positives, negatives; /* total weight of the rows of the class, and of the others */
} scl_isotonic;

/* Fit to n scores and n targets, element i at i times the stride; a target > 0 means that the row
 * is of the class. weights (n, or NULL: all 1); rows of weight 0 are ignored. The caller releases
 * *out. SCL_STATUS_BAD_DATA if a score is not finite or all weights are 0. */
scl_status scl_isotonic_fit(size_t n, const double *scores, ptrdiff_t score_stride,
                            const double *targets, ptrdiff_t target_stride, const double *weights,
                            scl_isotonic *out, scl_error *error);
void scl_isotonic_release(scl_isotonic *curve);

/* Whether knots are as stated above: SCL_STATUS_BAD_DATA if not. */
scl_status scl_isotonic_check(const scl_isotonic *curve, scl_error *error);

/* *out (n x classes, made here) = probabilities from scores (n x c) and c curves. c = 1: two
 * classes, and the second column is that of the class. c > 1: one curve for each class; the c
 * values of a row are divided by their sum, and are all 1/c where that sum is 0. */
scl_status scl_isotonic_probabilities(const scl_matrix *scores, const scl_isotonic *curves,
                                      scl_matrix *out, scl_error *error);

#endif
