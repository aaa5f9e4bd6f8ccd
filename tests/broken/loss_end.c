/* A target of 0 is said to be taken, and its value is infinite. */
// caught by: huge fail
// says: a target that it takes
#include "loss.h"

static scl_status wrong_facts(const void *self, scl_loss_facts *out, scl_error *error) {
  (void)self, (void)error;
  out->range = SCL_RANGE_HIGH_OPEN;
  out->low = 0;
  out->high = INFINITY;
  return SCL_STATUS_OK;
}

SCL_LOSS_LOOP(wrong_value, exp(f) - y * f - log(y))
SCL_LOSS_LOOP(wrong_slope, exp(f) - y)
BROKEN_LOSS_OF(SCL_ABILITIES({NULL, NULL}), .curvature = 0, .value = wrong_value,
               .slope = wrong_slope, .facts = wrong_facts)
