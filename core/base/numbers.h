/* Numbers of either dtype, and the constants and thresholds that more than one place needs. */
#ifndef SCULLERY_NUMBERS_H
#define SCULLERY_NUMBERS_H

#include <scullery/plugin.h>

static inline size_t scl_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t scl_max(size_t a, size_t b) { return a > b ? a : b; }

/* The size of a buffer for files. The build of the harnesses (tests/fuzz) has ones of a few bytes,
 * so that small inputs meet their edges. */
#ifdef SCULLERY_SMALL_BUFFERS
#define SCL_BUFFER(bytes) ((bytes) >> 15)
#else
#define SCL_BUFFER(bytes) (bytes)
#endif

/* Bytes of one number, and "float64" or "float32". */
size_t scl_dtype_size(scl_dtype dtype);
const char *scl_dtype_name(scl_dtype dtype);

/* Number `at` of an array of float64 or float32. For single numbers: loops over many are typed. */
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

/* count numbers converted, from adjacent ones; the arrays do not overlap. */
void scl_widen(size_t count, const float *from, double *to);
void scl_narrow(size_t count, const double *from, float *to);
/* count numbers in dtype, fresh memory; NULL when there is none. */
void *scl_convert(const double *from, size_t count, scl_dtype dtype);

/* exp(x) of |x| up to this stays in range of the dtype, squares included. */
double scl_log_reach(scl_dtype dtype);

#endif
