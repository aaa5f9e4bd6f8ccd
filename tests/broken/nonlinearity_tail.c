/* The tail of a row, behind whole vectors of 4, is computed by another formula. */
// caught by: independence fail
// says: columns
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  const size_t whole = count / 4 * 4;
  (void)self;
  for (size_t j = 0; j < whole; j++)
    out[j] = 1 / (1 + z[j] * z[j]);
  for (size_t j = whole; j < count; j++)
    out[j] = (1 / (1 + z[j] * z[j])) * (1 + 1e-15);
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
