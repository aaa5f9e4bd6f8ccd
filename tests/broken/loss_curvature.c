/* The curvature is that of another scale. */
// caught by: curvature fail
// says: the curvature there is
#include "loss.h"

SCL_LOSS_LOOP(wrong_curvature, pow(cosh(1.05 * (f - y) / scale_of(self)), -2))
BROKEN_LOSS_WITH(SCL_OFFER(SCL_ABILITY_LOSS_CURVATURE, scl_ability_loss_curvature,
                           .curvature = wrong_curvature))
