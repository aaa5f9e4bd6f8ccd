/* The loss is bounded, and therefore not convex. */
// caught by: convex fail
// says: it is not convex
#include "loss.h"

SCL_LOSS_LOOP(wrong_value, -exp(-(f - y) * (f - y) / 2))
SCL_LOSS_LOOP(wrong_slope, (f - y) * exp(-(f - y) * (f - y) / 2))
BROKEN_LOSS(.value = wrong_value, .slope = wrong_slope)
