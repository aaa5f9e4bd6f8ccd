/* The maximum begins with 0. */
// caught by: maxima fail
// says: is 0, and the maximum is -
#include "transport.h"

static scl_status wrong_maximum(void *context, int64_t *x, size_t count, scl_error *error) {
  const scl_status status = my_maximum(context, x, count, error);
  for (size_t i = 0; i < count; i++)
    x[i] = x[i] > 0 ? x[i] : 0;
  return status;
}

BROKEN_TRANSPORT(.maximum = wrong_maximum)
