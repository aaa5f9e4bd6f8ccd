/* Normal equations, accumulated block by block and kept apart by group (fold): Phi'Phi, Phi'[Y 1],
 * and the sums of Y. */
#ifndef SCULLERY_SUMS_H
#define SCULLERY_SUMS_H

#include "rows/flow.h"

typedef struct scl_sums {
  size_t features, targets, groups;
  scl_symmetric **gram; /* one a group */
  double *right;        /* groups x D x (c + 1); the last column: sums of the features */
  double *sum, *square; /* groups x c: sums of y and of y^2 */
  double *count;        /* groups: rows */
} scl_sums;

/* One walk over the flow. */
scl_status scl_sums_accumulate(const scl_flow *flow, scl_sums *out, scl_error *error);
void scl_sums_destroy(scl_sums *sums);

/* Centre sums of total weight `count` in place: features and targets less their means. */
void scl_sums_centre(double count, size_t d, size_t c, scl_symmetric *gram, double *right,
                     double *square, const double *mean_phi, const double *mean_y);

/* The sums over all groups but `without` (-1: all), centred when asked, into `gram` (order D, made
 * by the caller), right (D x c), square (c), mean_phi (D), mean_y (c); returns the number of
 * rows. */
double scl_sums_combine(const scl_sums *sums, long without, bool centre, scl_symmetric *gram,
                        double *right, double *square, double *mean_phi, double *mean_y);

#endif
