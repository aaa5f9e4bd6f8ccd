/* The slope jumps, and the flag is missing. */
// caught by: kinks fail
// says: SCL_LOSS_KINKS
#include "loss.h"

SCL_LOSS_LOOP(wrong_value, fabs(f - y))
SCL_LOSS_LOOP(wrong_slope, f > y ? 1 : f < y ? -1 : 0)
BROKEN_LOSS_OF(SCL_ABILITIES({NULL, NULL}), .curvature = 0, .value = wrong_value,
               .slope = wrong_slope, .facts = NULL)
