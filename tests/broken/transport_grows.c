/* Each exchange leaves memory of the host behind. */
// caught by: many fail
// says: bytes of host->allocate behind
#include "transport.h"

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  const group *g = context;
  if (g->host->allocate(100) == NULL)
    return g->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for 100 bytes");
  return my_sum(context, x, count, error);
}

BROKEN_TRANSPORT(.sum = wrong_sum)
