/* A parameter shares half of its variance with the one before. */
// caught by: independence fail
// says: t + 1
#include "sampler.h"

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right), {NULL, NULL}};

static scl_status draw_wrong(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++)
    for (size_t j = 0; j < out->dim; j++) {
      double two[2];
      const scl_address at = draw->address;
      host_of(self)->random->normal(at.seed, at.stream, j, out->first + i, 2, two);
      weights_of(out, i)[j] = (two[0] + two[1]) / SCL_SQRT2;
    }
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_DENSE, .draw = draw_wrong);
