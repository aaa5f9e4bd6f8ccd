/* Forgets the last column of every parameter. */
// caught by: guard-pages fail
// says: left as it was
#include "sampler.h"

static scl_status draw_wrong(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++)
    normals(self, draw, out->first + i, out->dim - 1, weights_of(out, i));
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(NULL, .space = SCL_SPACE_DENSE, .draw = draw_wrong);
