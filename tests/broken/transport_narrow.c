/* Numbers are sent as 32 bits. */
// caught by: sums fail
// says: number 0 of 1 is
#include "transport.h"

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  for (size_t i = 0; i < count; i++)
    x[i] = (int32_t)x[i];
  return my_sum(context, x, count, error);
}

BROKEN_TRANSPORT(.sum = wrong_sum)
