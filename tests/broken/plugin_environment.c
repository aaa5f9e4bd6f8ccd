/* Sets a variable of the environment. */
// caught by: surroundings fail
// says: the environment was
#define _GNU_SOURCE
#include "base.h"
#include <stdlib.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  (void)setenv("OMP_NUM_THREADS", "1", 1);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
