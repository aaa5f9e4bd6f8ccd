/* The seed is ignored. */
// caught by: seeds fail
// says: seed
#include "sampler.h"

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right), {NULL, NULL}};

static scl_status draw_wrong(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++)
    host_of(self)->random->normal(1, draw->address.stream, out->first + i, 0, out->dim,
                                  weights_of(out, i));
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_DENSE, .draw = draw_wrong);
