/* Writes one parameter more than it is asked for. */
// caught by: guard-pages crash
// says: slot draw
#include "sampler.h"

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right), {NULL, NULL}};

static scl_status draw_wrong(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  for (size_t i = 0; i <= out->count; i++)
    normals(self, draw, out->first + i, out->dim, weights_of(out, i));
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_DENSE, .draw = draw_wrong);
