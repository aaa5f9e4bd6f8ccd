/* Keeps the option of the first instance in a static variable, for all that follow. */
// caught by: instances fail
// says: against one alone
#include "base.h"

typedef struct scaled {
  scl_base base;
  double beta;
} scaled;

static const scl_option options[] = {
    SCL_NUMBER(scaled, beta, "1", "phi(z) = tanh(beta z)", SCL_POSITIVE)};

static void loop(const void *self, size_t count, const double *z, double *out) {
  static double beta;
  if (beta == 0) beta = ((const scaled *)self)->beta;
  for (size_t j = 0; j < count; j++)
    out[j] = tanh(beta * z[j]);
}

const scl_plugin scullery_plugin = {BROKEN_TEXTS, SCL_INSTANCE(scaled, options),
                                    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop)};
