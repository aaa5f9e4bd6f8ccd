/* Exports a function, which may be mixed up with that of another plugin. */
// caught by: symbols warn
// says: helper
#include "base.h"

SCL_EXPORT double helper(double z);
double helper(double z) { return z * z; }

SCL_LOOPS((double)z *(double)z)

BROKEN_NONLINEARITY(NULL, SCL_RIDGE_LOOPS);
