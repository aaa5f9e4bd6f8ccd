/* The slope is 1 % too large. */
// caught by: slope fail
// says: the value changes by
#include "loss.h"

SCL_LOSS_LOOP(wrong_slope, 1.01 * scale_of(self) * tanh((f - y) / scale_of(self)))
BROKEN_LOSS(.slope = wrong_slope)
