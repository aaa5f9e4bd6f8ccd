/* Its constructor never ends. */
// caught by: load timeout
// says: what runs when the object is opened
#include "base.h"

__attribute__((constructor)) static void start(void) {
  for (volatile int more = 1; more;) {
  }
}

SCL_LOOPS(z)

BROKEN_NONLINEARITY(NULL, SCL_RIDGE_LOOPS);
