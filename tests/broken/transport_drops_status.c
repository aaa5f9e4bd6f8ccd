/* The failure of an exchange is not passed on. */
// caught by: leaves fail
// says: reports success, and process
#include "transport.h"

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  (void)my_sum(context, x, count, error);
  return SCL_STATUS_OK;
}

BROKEN_TRANSPORT(.sum = wrong_sum)
