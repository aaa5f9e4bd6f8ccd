/* One parameter in a hundred is infinite: the logarithm of 0. */
// caught by: range fail
#include "sampler.h"

static scl_status draw_wrong(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++) {
    double *w = weights_of(out, i);
    normals(self, draw, out->first + i, out->dim, w);
    w[0] = log(floor(fabs(w[0]) * 80)) - 3;
  }
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(NULL, .space = SCL_SPACE_DENSE, .draw = draw_wrong);
