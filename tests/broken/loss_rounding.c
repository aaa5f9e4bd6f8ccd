/* The rounding mode stays changed. */
// caught by: batches fail
// says: rounding
#include "loss.h"

#include <fenv.h>
static void wrong_value(const void *self, size_t count, const double *f, const double *y,
                        double *out) {
  (void)fesetround(FE_UPWARD);
  value(self, count, f, y, out);
}
BROKEN_LOSS(.value = wrong_value)
