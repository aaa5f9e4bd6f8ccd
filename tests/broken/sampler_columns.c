/* Thresholds fall on the first column twice as often as they should. */
// caught by: law fail
// says: column
#include "sampler.h"

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right), {NULL, NULL}};

static scl_status draw_wrong(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  (void)draw_thresholds(self, draw, out, error);
  for (size_t i = 0; i < out->count; i++) {
    int32_t *column = &out->support[(ptrdiff_t)i * out->support_stride];
    if ((size_t)*column + 1 == out->dim && out->dim > 1) *column = 0;
  }
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_THRESHOLD, .draw = draw_wrong);
