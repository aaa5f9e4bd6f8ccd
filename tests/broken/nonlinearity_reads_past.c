/* Reads one number past the end of z. */
// caught by: guard-pages crash
// says: slot loop
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  volatile double next = 0;
  (void)self;
  for (size_t j = 0; j < count; j++) {
    next = z[j + 1];
    out[j] = z[j] <= 0 ? 0 : z[j];
  }
  (void)next;
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
