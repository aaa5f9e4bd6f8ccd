/* Access to numbers of either dtype, conversions, and shared constants. */
#ifndef SCULLERY_NUMBERS_H
#define SCULLERY_NUMBERS_H

#include <scullery/plugin.h>

static inline size_t scl_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t scl_max(size_t a, size_t b) { return a > b ? a : b; }

/* The size of a file buffer. The fuzzing build (tests/fuzz) uses buffers of a few bytes, so that
 * small inputs reach their ends. */
#ifdef SCULLERY_SMALL_BUFFERS
#define SCL_BUFFER(bytes) ((bytes) >> 15)
#else
#define SCL_BUFFER(bytes) (bytes)
#endif

/* The size of one number in bytes, and the name "float64" or "float32". */
size_t scl_dtype_size(scl_dtype dtype);
const char *scl_dtype_name(scl_dtype dtype);

/* Element `at` of an array of float64 or float32. For single numbers; loops over many numbers have
 * a version for each dtype. */
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

/* The address of element `at`. */
static inline const void *scl_at(const void *array, scl_dtype dtype, ptrdiff_t at) {
  return (const char *)array + at * (ptrdiff_t)scl_dtype_size(dtype);
}
static inline void *scl_at_mutable(void *array, scl_dtype dtype, ptrdiff_t at) {
  return (char *)array + at * (ptrdiff_t)scl_dtype_size(dtype);
}

/* Convert `count` adjacent numbers. The arrays do not overlap. */
void scl_widen(size_t count, const float *from, double *to);
void scl_narrow(size_t count, const double *from, float *to);
/* A copy of `count` numbers in the dtype, which the caller releases; NULL: out of memory. */
void *scl_convert(const double *from, size_t count, scl_dtype dtype);

/* A bound on |x| within which exp(x) and its square are in the range of the dtype, with room. */
double scl_log_reach(scl_dtype dtype);

#endif
