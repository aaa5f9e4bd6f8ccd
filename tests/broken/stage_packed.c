/* It takes rows for adjacent, whatever their stride. */
// caught by: blocks fail
// says: a block whose row stride
#include "stage.h"

static scl_status wrong_apply(const void *self, const scl_stage_state *state,
                              const scl_const_block *in, const scl_block *out, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < in->rows; i++)
    for (size_t j = 0; j < state->cols; j++)
      ((double *)out->data)[i * state->cols + j] = ((const double *)in->data)[i * state->cols + j];
  return SCL_STATUS_OK;
}

BROKEN_STAGE(.apply = wrong_apply)
