/* Reads scores that it has overwritten. */
// caught by: pages fail
// says: in place of its input
#include "loss.h"

static void wrong_slope(const void *self, size_t count, const double *f, const double *y,
                        double *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = 0;
  slope(self, count, f, y, out);
}
BROKEN_LOSS(.slope = wrong_slope)
