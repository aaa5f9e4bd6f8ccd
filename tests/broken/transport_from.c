/* Every broadcast is one of process 0. */
// caught by: broadcasts fail
// says: from process 1 is
#include "transport.h"

static scl_status wrong_broadcast(void *context, size_t from, void *bytes, size_t size,
                                  scl_error *error) {
  (void)from;
  return my_broadcast(context, 0, bytes, size, error);
}

BROKEN_TRANSPORT(.broadcast = wrong_broadcast)
