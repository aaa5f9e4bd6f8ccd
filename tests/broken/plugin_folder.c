/* Changes the current folder. */
// caught by: surroundings fail
// says: current folder
#include "base.h"
#include <unistd.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  if (chdir("/") != 0) return;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
