/* The largest curvature is said to be half of what it is. */
// caught by: facts fail
// says: largest curvature
#include "loss.h"

BROKEN_LOSS(.curvature = 0.5)
