/* Finishes its last result in the next call, of another function too. */
// caught by: batches crash
// says: kept the memory of an earlier call
#include "loss.h"

static void late_value(const void *self, size_t count, const double *f, const double *y,
                       double *out) {
  static double *before;
  if (before != NULL) *before = 0;
  value(self, count, f, y, out);
  before = count > 0 ? out + count - 1 : NULL;
}
BROKEN_LOSS(.value = late_value)
