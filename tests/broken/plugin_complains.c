/* Writes to standard error by itself. */
// caught by: repeats fail
// says: prints: so many numbers
#include "base.h"
#include <stdio.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  (void)fprintf(stderr, "so many numbers: %zu\\n", count);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
