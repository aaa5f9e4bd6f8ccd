/* Keeps its option in a static variable, which the next instance overwrites. */
// caught by: instances fail
// says: other options
#include "base.h"

typedef struct scaled {
  scl_base base;
  double slope;
} scaled;

static const scl_option options[] = {
    SCL_NUMBER(scaled, slope, "1", "factor of z", SCL_WITHIN(0.5, 4))};
static double slope;

static scl_status create(void *instance, scl_error *error) {
  (void)error;
  slope = ((const scaled *)instance)->slope;
  return SCL_STATUS_OK;
}

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = slope * z[j];
}

const scl_plugin scullery_plugin = {BROKEN_TEXTS, SCL_INSTANCE(scaled, options),
                                    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop),
                                    .create = create};
