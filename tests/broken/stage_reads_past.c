/* It reads a number behind the last one. */
// caught by: blocks crash
// says: slot apply
#include "stage.h"

static scl_status wrong_apply(const void *self, const scl_stage_state *state,
                              const scl_const_block *in, const scl_block *out, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < in->rows; i++) {
    const double *from = scl_stage_row(in, i);
    double *to = scl_stage_out(out, i);
    for (size_t j = 0; j < state->cols; j++)
      to[j] = from[j] + 0 * from[j + 1];
  }
  return SCL_STATUS_OK;
}

BROKEN_STAGE(.apply = wrong_apply)
