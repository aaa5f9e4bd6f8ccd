/* Leaves the last number of an odd row unwritten. */
// caught by: outputs-written fail
// says: was not written
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j + 1 < count; j += 2) {
    out[j] = z[j] * z[j];
    out[j + 1] = z[j + 1] * z[j + 1];
  }
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
