/* Scratch of malloc that is never freed. */
// caught by: uses fail
// says: bytes of malloc
#include "base.h"
#include <stdlib.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  volatile double *scratch = malloc((count + 1) * sizeof *scratch);
  (void)self;
  for (size_t j = 0; j < count; j++) {
    scratch[j] = z[j] * z[j];
    out[j] = scratch[j];
  }
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
