/* The curvature has the wrong sign far from the target. */
// caught by: curvature fail
// says: the curvature at
#include "loss.h"

SCL_LOSS_LOOP(wrong_curvature, fabs(f - y) > 30 ? -1e-9 : pow(cosh((f - y) / scale_of(self)), -2))
BROKEN_LOSS_WITH(SCL_OFFER(SCL_ABILITY_LOSS_CURVATURE, scl_ability_loss_curvature,
                           .curvature = wrong_curvature))
