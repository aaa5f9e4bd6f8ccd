/* Two processes have the number 0. */
// caught by: ranks fail
// says: two of 3 processes have the number 0
#include "transport.h"

static size_t wrong_rank(void *context) {
  const group *g = context;
  return g->rank == 2 ? 0 : g->rank;
}

BROKEN_TRANSPORT(.rank = wrong_rank)
