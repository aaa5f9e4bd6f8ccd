/* Leaves the rounding mode changed. */
// caught by: surroundings fail
// says: rounding mode
#include "base.h"
#include <fenv.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  (void)fesetround(FE_UPWARD);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
