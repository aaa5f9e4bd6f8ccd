/* The value is NaN where cosh overflows. */
// caught by: huge fail
// says: its value is
#include "loss.h"

SCL_LOSS_LOOP(wrong_value,
              scale_of(self) * scale_of(self) *
                  (log(cosh((f - y) / scale_of(self))) - 0 * cosh((f - y) / scale_of(self))))
BROKEN_LOSS(.value = wrong_value)
