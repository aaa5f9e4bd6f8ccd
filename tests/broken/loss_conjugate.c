/* The conjugate leaves the target out. */
// caught by: conjugate fail
// says: and should be
#include "loss.h"

SCL_LOSS_LOOP(wrong_conjugate, scale_of(self) * scale_of(self) * entropy(f / scale_of(self)))
BROKEN_LOSS_WITH(RIGHT_CURVATURE, SCL_OFFER(SCL_ABILITY_LOSS_CONJUGATE, scl_ability_loss_conjugate,
                                            .conjugate = wrong_conjugate))
