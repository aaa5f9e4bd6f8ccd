/* Writes out before it has read z for the last time, so that out on z goes wrong. */
// caught by: in-place fail
// says: out on z
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] * z[j];
  for (size_t j = 0; j < count; j++)
    out[j] += z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
