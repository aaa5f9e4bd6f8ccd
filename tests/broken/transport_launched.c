/* It says of every process that a launcher started it, though it starts them itself. */
// caught by: launched fail
// says: has an option 'processes'
#include "transport.h"

static int32_t wrong_launched(const void *self) {
  (void)self;
  return 1;
}

BROKEN_TRANSPORT(.launched = wrong_launched)
