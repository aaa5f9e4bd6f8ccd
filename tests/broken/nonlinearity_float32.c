/* The loop for float32 stops a series too early. */
// caught by: float32 fail
// says: float32 gives
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = exp(-z[j] * z[j]);
}

static void loop_float32(const void *self, size_t count, const float *z, float *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = 1 / (1 + z[j] * z[j] * (1 + z[j] * z[j] / 2));
}

BROKEN_NONLINEARITY(NULL, SCL_RIDGE_LOOPS);
