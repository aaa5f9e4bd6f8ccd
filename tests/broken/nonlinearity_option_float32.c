/* The loop for float32 forgets the option: it is right at the default alone. */
// caught by: float32 fail
// says: beta =
#include "base.h"

typedef struct softplus {
  scl_base base;
  double beta;
} softplus;

static const scl_option options[] = {
    SCL_NUMBER(softplus, beta, "1", "the sharpness: log(1 + exp(beta z))/beta", SCL_POSITIVE)};

static void loop(const void *self, size_t count, const double *z, double *out) {
  const double beta = ((const softplus *)self)->beta;
  for (size_t j = 0; j < count; j++)
    out[j] = (z[j] > 0 ? z[j] : 0) + log1p(exp(-fabs(beta * z[j]))) / beta;
}

static void loop_float32(const void *self, size_t count, const float *z, float *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = (z[j] > 0 ? z[j] : 0) + log1pf(expf(-fabsf(z[j])));
}

const scl_plugin scullery_plugin = {BROKEN_TEXTS, SCL_INSTANCE(softplus, options),
                                    SCL_NONLINEARITY(SCL_RIDGE_LOOPS)};
