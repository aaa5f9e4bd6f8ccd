/* It takes arrays of any shape from a file. */
// caught by: saved fail
// says: has a column less than the rows, and is taken
#include "stage.h"

static scl_status wrong_shape(const void *self, scl_stage_state *state, scl_error *error) {
  (void)self, (void)state, (void)error;
  return SCL_STATUS_OK;
}

BROKEN_STAGE(.shape = wrong_shape)
