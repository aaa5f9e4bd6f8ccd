/* Ends the process without a trace. */
// caught by: surroundings crash
// says: exit(0)
#include "base.h"
#include <unistd.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  _exit(0);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
