/* Every other number of all calls is another. */
// caught by: batches fail
// says: and alone
#include "loss.h"

static void wrong_value(const void *self, size_t count, const double *f, const double *y,
                        double *out) {
  static size_t calls;
  value(self, count, f, y, out);
  for (size_t i = 0; i < count; i++)
    out[i] += 1e-9 * (double)(calls++ % 2);
}
BROKEN_LOSS(.value = wrong_value)
