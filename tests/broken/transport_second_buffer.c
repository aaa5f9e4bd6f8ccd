/* What lies beyond a buffer of 65536 numbers is not added. */
// caught by: sums fail
// says: number 65536 of 100000 is
#include "transport.h"

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  return my_sum(context, x, count < 65536 ? count : 65536, error);
}

BROKEN_TRANSPORT(.sum = wrong_sum)
