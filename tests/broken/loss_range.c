/* Targets below 0 are said to be taken, and have no logarithm. */
// caught by: huge fail
// says: its value is
#include "loss.h"

SCL_LOSS_LOOP(wrong_value, exp(f) - y * f + log(y))
SCL_LOSS_LOOP(wrong_slope, exp(f) - y)
BROKEN_LOSS_OF(SCL_ABILITIES({NULL, NULL}), .curvature = 0, .value = wrong_value,
               .slope = wrong_slope, .facts = NULL)
