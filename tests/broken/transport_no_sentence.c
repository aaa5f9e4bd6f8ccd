/* The failure of an exchange has no sentence. */
// caught by: leaves fail
// says: no sentence
#include "transport.h"

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  const scl_status status = my_sum(context, x, count, error);
  if (error != NULL) error->message[0] = 0;
  return status;
}

BROKEN_TRANSPORT(.sum = wrong_sum)
