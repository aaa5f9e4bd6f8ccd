/* The Lipschitz constant is that of another scale. */
// caught by: facts fail
// says: Lipschitz constant
#include "loss.h"

static scl_status wrong_facts(const void *self, scl_loss_facts *out, scl_error *error) {
  (void)error;
  out->lipschitz = 0.9 * scale_of(self);
  return SCL_STATUS_OK;
}
BROKEN_LOSS(.facts = wrong_facts)
