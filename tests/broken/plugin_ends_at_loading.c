/* Its constructor ends the process. */
// caught by: load crash
// says: what runs when the object is opened
#include "base.h"
#include <stdlib.h>

__attribute__((constructor)) static void start(void) { exit(0); }

SCL_LOOPS(z)

BROKEN_NONLINEARITY(NULL, SCL_RIDGE_LOOPS);
