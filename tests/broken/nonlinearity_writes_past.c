/* Writes one number past the end of out: a loop over pairs that rounds up. */
// caught by: guard-pages crash
// says: slot loop
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j += 2) {
    const double next = j + 1 < count ? z[j + 1] : 0;
    out[j] = z[j] <= 0 ? 0 : z[j];
    out[j + 1] = next <= 0 ? 0 : next;
  }
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
