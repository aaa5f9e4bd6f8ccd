/* Seeds the generator of the C library, which is not its own. */
// caught by: surroundings fail
// says: state of rand()
#include "base.h"
#include <stdlib.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  srand(7);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
