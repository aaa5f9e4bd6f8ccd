/* The number of parameters is fixed, and the layout takes any other. */
// caught by: layout fail
#include "sampler.h"

static scl_status layout(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  (void)self, (void)error;
  if (out->count == 0) out->count = dim + 1;
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(NULL, .space = SCL_SPACE_DENSE, .draw = draw_right, .layout = layout);
