/* Antithetic pairs that begin with the batch: every second parameter of a batch is turned round. */
// caught by: batches fail
// says: parameter
#include "sampler.h"

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right), {NULL, NULL}};

static scl_status draw_wrong(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++) {
    normals(self, draw, out->first + i, out->dim, weights_of(out, i));
    for (size_t j = 0; i % 2 == 1 && j < out->dim; j++)
      weights_of(out, i)[j] *= -1;
  }
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_DENSE, .draw = draw_wrong);
