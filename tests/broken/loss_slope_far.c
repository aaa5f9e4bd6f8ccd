/* The slope is wrong far from the target alone. */
// caught by: slope fail
// says: the slopes there are
#include "loss.h"

SCL_LOSS_LOOP(wrong_slope, fabs(f - y) > 50 * scale_of(self)
                               ? copysign(0.9 * scale_of(self), f - y)
                               : scale_of(self) * tanh((f - y) / scale_of(self)))
BROKEN_LOSS(.slope = wrong_slope)
