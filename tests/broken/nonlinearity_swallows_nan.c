/* NaN becomes 0. */
// caught by: odd-numbers warn
// says: z = NaN is 0
#include "base.h"

SCL_LOOPS(z > 0 ? z : 0)

BROKEN_NONLINEARITY(NULL, SCL_RIDGE_LOOPS);
