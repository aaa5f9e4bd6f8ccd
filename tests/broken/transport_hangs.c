/* A process that finds that another one has ended waits for it. */
// caught by: leaves fail
// says: did not end in 40 s
// says: in the sum of 20 numbers
#include "transport.h"

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  const scl_status status = my_sum(context, x, count, error);
  while (status != SCL_STATUS_OK)
    (void)pause();
  return status;
}

BROKEN_TRANSPORT(.sum = wrong_sum)
