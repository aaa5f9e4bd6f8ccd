/* Computes from the first address that is a multiple of 16 alone, and skips what is before it. */
// caught by: alignment fail
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  const size_t skip = (uintptr_t)z % 16 != 0 && count > 2;
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] * z[j];
  if (skip) out[0] = 0;
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
