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
static inline scl_status tilt_check(const void *self, const scl_law *law, scl_error *error) {
  if (law->family == SCL_FAMILY_GAUSSIAN) return SCL_STATUS_OK;
  return ((const scl_base *)self)
      ->host->fail(error, SCL_STATUS_UNSUPPORTED,
                   "no closed form for this kernel with this sampler's law");
}

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

/* log mean over supports of s columns of exp(sum of logs[j]); logs is spoilt, scratch has s + 1
 * numbers. */
static inline double tilt_mean(size_t dim, size_t degree, double *logs, double *scratch) {
  double high = -INFINITY, low = INFINITY, sum = 0;
  for (size_t j = 0; j < dim; j++) {
    high = fmax(high, logs[j]);
    low = fmin(low, logs[j]);
    sum += logs[j];
  }
  if (degree == dim) return sum;
  if (degree == 0 || high == low || !isfinite(high)) return degree == 0 ? 0 : (double)degree * high;
  for (size_t j = 0; j < dim; j++)
    logs[j] = exp(logs[j] - high);
  return (double)degree * high + log(subset_mean(dim, degree, logs, scratch));
}

/* 2 dim + 1 numbers, to be released; NULL where there is no memory, with the sentence in *error. */
static inline double *tilt_room(const void *self, const scl_law *law, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *room = host->allocate((2 * law->dim + 1) * sizeof *room);
  if (room == NULL)
    (void)host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a law of %zu columns",
                     law->dim);
  return room;
}

/* The logarithm of one coordinate's factor, given a parameter of it. */
typedef double (*tilt_factor)(const void *context, double mean, double scale);

/* The logarithm of the mean for a law. */
static inline double tilt_total(const scl_law *law, tilt_factor factor, const void *context,
                                double *room) {
  for (size_t j = 0; j < law->dim; j++)
    room[j] = factor(context, law->mean[j], law->scale[j]);
  return tilt_mean(law->dim, tilt_degree(law), room, room + law->dim);
}

#endif
