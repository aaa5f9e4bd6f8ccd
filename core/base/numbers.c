/* Sizes, names and conversions of float64 and float32. */
#include "base/numbers.h"

#include "base/memory.h"
#include <string.h>

size_t scl_dtype_size(scl_dtype dtype) {
  return dtype == SCL_DTYPE_FLOAT64 ? sizeof(double) : sizeof(float);
}

const char *scl_dtype_name(scl_dtype dtype) {
  return dtype == SCL_DTYPE_FLOAT64 ? "float64" : "float32";
}

void scl_widen(size_t count, const float *from, double *to) {
  for (size_t i = 0; i < count; i++)
    to[i] = (double)from[i];
}

void scl_narrow(size_t count, const double *from, float *to) {
  for (size_t i = 0; i < count; i++)
    to[i] = (float)from[i];
}

void *scl_convert(const double *from, size_t count, scl_dtype dtype) {
  void *to = scl_allocate_array(scl_max(count, 1), scl_dtype_size(dtype));
  if (to == NULL) return NULL;
  if (dtype == SCL_DTYPE_FLOAT64)
    memcpy(to, from, count * sizeof *from);
  else
    scl_narrow(count, from, to);
  return to;
}

double scl_log_reach(scl_dtype dtype) { return dtype == SCL_DTYPE_FLOAT64 ? 300 : 30; }
