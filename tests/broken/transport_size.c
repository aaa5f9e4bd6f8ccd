/* The last process counts one process less. */
// caught by: ranks fail
// says: is told that there are
#include "transport.h"

static size_t wrong_size(void *context) {
  const group *g = context;
  return g->size > 2 && g->rank == 0 ? g->size - 1 : g->size;
}

BROKEN_TRANSPORT(.size = wrong_size)
