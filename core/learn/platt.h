/* Probabilities from scores (Platt 1999): P(y = 1 | f) = 1/(1 + exp(slope f + offset)), fitted on
 * scores of rows that the model has not seen. */
#ifndef SCULLERY_PLATT_H
#define SCULLERY_PLATT_H

#include "algebra/matrix.h"

typedef struct scl_platt {
  double slope, offset; /* A and B of the paper: the slope is negative where larger scores speak for
                           the class */
  double positives, negatives; /* N+ and N-: total scaled weight of the class, and of the others */
  double residual, tolerance;  /* largest entry of the gradient of the mean loss over standardised
                                  scores, and the value at which the iteration stops */
  size_t iterations;
  bool converged; /* residual <= tolerance */
} scl_platt;

/* Fit to n scores; targets > 0 are of the class. Both at strides. weights (n) or NULL: they are
 * scaled to a mean of 1 over the rows that have any, so that their unit does not matter.
 * SCL_STATUS_BAD_DATA where a score is not finite. Sums are in the order of the rows. */
scl_status scl_platt_fit(size_t n, const double *scores, ptrdiff_t score_stride,
                         const double *targets, ptrdiff_t target_stride, const double *weights,
                         scl_platt *out, scl_error *error);

/* *out (n x classes, made here) = probabilities from scores (n x c) and c sigmoids. c = 1: two
 * classes, and the second column is that of the class. c > 1: one sigmoid for each class, divided
 * by the sum of all of them; computed from logarithms, so that small sigmoids do not underflow. */
scl_status scl_platt_probabilities(const scl_matrix *scores, const scl_platt *sigmoids,
                                   scl_matrix *out, scl_error *error);

#endif
