/* The first number of a long batch is another. */
// caught by: batches fail
// says: and alone
#include "loss.h"

static void wrong_value(const void *self, size_t count, const double *f, const double *y,
                        double *out) {
  value(self, count, f, y, out);
  if (count > 5000) out[0] *= 1 + 1e-12;
}
BROKEN_LOSS(.value = wrong_value)
