/* Bytes are sent in words of 8. */
// caught by: broadcasts fail
// says: of 13 from process 0 is
#include "transport.h"

static scl_status wrong_broadcast(void *context, size_t from, void *bytes, size_t size,
                                  scl_error *error) {
  return my_broadcast(context, from, bytes, size <= 1 ? size : size / 8 * 8, error);
}

BROKEN_TRANSPORT(.broadcast = wrong_broadcast)
