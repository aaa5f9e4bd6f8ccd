/* Sums over what a parameter consists of, for kernels that are a product over its coordinates.
 * With f_j the logarithm of coordinate j's factor:
 *
 *   log mean over parameters of prod_{j in the parameter} exp(f_j)
 *
 * where a parameter has all d columns (dense), s of them without replacement (sparse), or one
 * (thresholds). */
#ifndef SCULLERY_SHARED_KERNEL_TILT_H
#define SCULLERY_SHARED_KERNEL_TILT_H

#include "shared/subset_means.h"
#include <scullery/plugin.h>

/* Closed forms are known for Gaussian laws alone. */
scl_status tilt_check(const void *self, const scl_law *law, scl_error *error);

/* In-degree of parameters with this law (sparse: of the one in-degree that it has). */
static inline size_t tilt_degree(const scl_law *law) {
  return law->space == SCL_SPACE_THRESHOLD ? 1
         : law->space == SCL_SPACE_SPARSE  ? law->max_degree
                                           : law->dim;
}

/* log P(two parameters have the same support): minus the logarithm of the number of supports. */
static inline double tilt_indicator(const scl_law *law) {
  return -subset_log_count(law->dim, tilt_degree(law));
}

/* Scratch memory of 2 dim + 1 numbers for tilt_total; NULL where there is none, with the sentence
 * in *error. */
double *tilt_room(const void *self, const scl_law *law, scl_error *error);

/* The logarithm of one coordinate's factor, given a parameter of it. */
typedef double (*tilt_factor)(const void *context, double mean, double scale);

/* The logarithm of the mean for a law. */
double tilt_total(const scl_law *law, tilt_factor factor, const void *context, double *room);

#endif
