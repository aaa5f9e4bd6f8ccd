/* Counts its calls in a static variable, and the count is seen in what it computes. */
// caught by: repeats fail
#include "base.h"

static double calls;

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  calls++;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] * (1 + 1e-12 * calls);
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
