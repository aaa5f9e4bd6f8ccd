/* Where the count is odd, the numbers of process 1 are added in the wrong place. */
// caught by: sums fail
// says: the numbers of process 1 are missing
#include "transport.h"

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  const group *g = context;
  if (count % 2 == 1 && g->rank == 1) memset(x, 0, count * sizeof *x);
  return my_sum(context, x, count, error);
}

BROKEN_TRANSPORT(.sum = wrong_sum)
