/* z = <w, x> + b (x_i - t for thresholds) for many parameters: how rows meet parameters, one way
 * for each space. */
#ifndef SCULLERY_PROJECTION_H
#define SCULLERY_PROJECTION_H

#include "map/parameters.h"

typedef struct scl_projection scl_projection;

/* From rows `view` (float64) of the sampler's layout; the sampler is called for structured rows and
 * shared. Short supports over few columns are spelled out as dense rows, which the product handles
 * faster. factor and offset (dim numbers each, or NULL): structured rows w become factor o w +
 * offset, as K's tilt asks. */
scl_status scl_projection_create(scl_instance *sampler, const scl_layout *layout,
                                 const scl_parameters *view, scl_dtype dtype, const double *factor,
                                 const double *offset, scl_projection **out, scl_error *error);
void scl_projection_destroy(scl_projection *projection);

size_t scl_projection_bytes(const scl_projection *projection);
/* 1, or how many parameters are projected together: first and cols are multiples of it. */
size_t scl_projection_block(const scl_projection *projection);

/* z (rows x cols at z_stride) = projections of x (rows x dim at x_stride) on parameters first ..
 * first+cols-1, all in the projection's dtype; in the calling thread. */
scl_status scl_projection_apply(const scl_projection *projection, const void *x, ptrdiff_t x_stride,
                                size_t rows, size_t first, size_t cols, void *z, ptrdiff_t z_stride,
                                scl_error *error);

/* x[i] as a number of either dtype, and its setting. */
static inline double scl_number(const void *array, scl_dtype dtype, size_t at) {
  return dtype == SCL_DTYPE_FLOAT64 ? ((const double *)array)[at]
                                    : (double)((const float *)array)[at];
}
static inline void scl_set_number(void *array, scl_dtype dtype, size_t at, double value) {
  if (dtype == SCL_DTYPE_FLOAT64)
    ((double *)array)[at] = value;
  else
    ((float *)array)[at] = (float)value;
}
/* count numbers in dtype, NULL when there is no memory. */
void *scl_convert(const double *from, size_t count, scl_dtype dtype);

#endif
