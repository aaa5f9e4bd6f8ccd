/* It declares that a number depends on its own column, and adds the last one. */
// caught by: by-column fail
// says: and so does
#include "stage.h"

static scl_status wrong_apply(const void *self, const scl_stage_state *state,
                              const scl_const_block *in, const scl_block *out, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < in->rows; i++) {
    const double *from = scl_stage_row(in, i);
    double *to = scl_stage_out(out, i);
    for (size_t j = 0; j < state->cols; j++)
      to[j] = from[j] + from[state->cols - 1];
  }
  return SCL_STATUS_OK;
}

BROKEN_STAGE(.apply = wrong_apply)
