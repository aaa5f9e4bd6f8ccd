/* It writes a number more than host->scratch gave. */
// caught by: shapes crash
// says: wrote outside of
#include "stage.h"

static scl_status wrong_apply(const void *self, const scl_stage_state *state,
                              const scl_const_block *in, const scl_block *out, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *row = host->scratch(state->cols * sizeof *row);
  if (row == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  for (size_t i = 0; i < in->rows; i++) {
    for (size_t j = 0; j < state->cols; j++)
      row[j] = scl_stage_row(in, i)[j];
    row[state->cols] = 0;
    memcpy(scl_stage_out(out, i), row, state->cols * sizeof *row);
  }
  return SCL_STATUS_OK;
}

BROKEN_STAGE(.apply = wrong_apply)
