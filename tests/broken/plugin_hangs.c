/* Never ends. */
// caught by: surroundings timeout
// says: slot loop
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (volatile int more = 1; more;) {
  }
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
