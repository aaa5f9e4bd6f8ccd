/* Ends the process. */
// caught by: surroundings crash
// says: by exit() in nonlinearity.broken, slot loop
#include "base.h"
#include <stdlib.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  exit(0);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
