/* Reads one target past the end. */
// caught by: pages crash
// says: slot value
#include "loss.h"

static void wrong_value(const void *self, size_t count, const double *f, const double *y,
                        double *out) {
  const volatile double *next = y;
  value(self, count, f, y, out);
  if (count > 0 && next[count] == 1e300) out[0] = 0;
}
BROKEN_LOSS(.value = wrong_value)
