/* Adds a little of the number before. */
// caught by: independence fail
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  double before = 0;
  (void)self;
  for (size_t j = 0; j < count; j++) {
    const double now = z[j];
    out[j] = now + 0.01 * before;
    before = now;
  }
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
