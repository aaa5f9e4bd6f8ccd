/* Closes standard output. */
// caught by: surroundings fail
// says: standard output
#include "base.h"
#include <unistd.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  (void)close(STDOUT_FILENO);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
