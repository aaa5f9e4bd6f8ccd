/* A process gives up when another one has not answered for half a second. */
// caught by: slow fail
// says: it failed, and no process had left
#include "transport.h"

#include <sys/time.h>

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  const group *g = context;
  const struct timeval most = {.tv_usec = 500000};
  for (size_t r = 0; r < 2; r++)
    if (g->to[r] >= 0) (void)setsockopt(g->to[r], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  return my_sum(context, x, count, error);
}

BROKEN_TRANSPORT(.sum = wrong_sum)
