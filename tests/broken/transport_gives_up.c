/* An exchange fails where Ctrl-C ends a call that waits. */
// caught by: pressed fail
// says: it failed, and no process had left
#include "transport.h"

#include <poll.h>

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  const group *g = context;
  struct pollfd numbers = {.fd = g->to[1], .events = POLLIN};
  if (g->to[1] >= 0 && poll(&numbers, 1, -1) < 0)
    return g->host->fail(error, SCL_STATUS_IO, "%s", strerror(errno));
  return my_sum(context, x, count, error);
}

BROKEN_TRANSPORT(.sum = wrong_sum)
