/* tanh by exponentials: infinity over infinity where they overflow. */
// caught by: odd-numbers fail
// says: for a finite number
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++) {
    const double up = exp(z[j]), down = exp(-z[j]);
    out[j] = (up - down) / (up + down);
  }
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
