/* Numbers are exchanged in pairs: an odd count reads and writes one past their end. */
// caught by: sums fail
// says: crash
// says: slot sum
#include "transport.h"

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  volatile int64_t *pair = x;
  for (size_t i = 0; i < count; i += 2)
    pair[i + 1] = pair[i + 1];
  return my_sum(context, x, count, error);
}

BROKEN_TRANSPORT(.sum = wrong_sum)
