/* Writes one number past the end of odd batches. */
// caught by: pages crash
// says: slot slope
#include "loss.h"

static void wrong_slope(const void *self, size_t count, const double *f, const double *y,
                        double *out) {
  slope(self, count, f, y, out);
  if (count % 2 == 1) out[count] = 0;
}
BROKEN_LOSS(.slope = wrong_slope)
