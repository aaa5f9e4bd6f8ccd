/* The conjugate is finite at slopes that the loss never has. */
// caught by: conjugate fail
// says: is more at f
#include "loss.h"

SCL_LOSS_LOOP(wrong_conjugate, f *y + scale_of(self) * scale_of(self) *
                                          entropy(fmax(-1, fmin(1, f / scale_of(self)))))
BROKEN_LOSS_WITH(RIGHT_CURVATURE, SCL_OFFER(SCL_ABILITY_LOSS_CONJUGATE, scl_ability_loss_conjugate,
                                            .conjugate = wrong_conjugate))
