/* What it learns is in static memory too, where another fit replaces it. */
// caught by: saved fail
// says: made again from its arrays
#include "stage.h"

static double shift;

static scl_status wrong_fit(const void *self, const scl_fitting *fitting, scl_error *error) {
  shift += 1;
  return fit(self, fitting, error);
}

static scl_status wrong_apply(const void *self, const scl_stage_state *state,
                              const scl_const_block *in, const scl_block *out, scl_error *error) {
  const scl_status status = apply(self, state, in, out, error);
  for (size_t i = 0; i < out->rows; i++)
    scl_stage_out(out, i)[0] += shift;
  shift += 1;
  return status;
}

BROKEN_STAGE(.fit = wrong_fit, .apply = wrong_apply)
