/* The layout has a bias, and draw never writes it. */
// caught by: guard-pages fail
// says: the bias of parameter
#include "sampler.h"

static scl_status layout(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  (void)self, (void)dim, (void)error;
  out->has_bias = 1;
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(NULL, .space = SCL_SPACE_DENSE, .draw = draw_right, .layout = layout);
