/* The law says Gaussian, and draws are uniform with the same mean and variance. */
// caught by: law fail
// says: distribution function
#include "sampler.h"

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right), {NULL, NULL}};

static scl_status draw_wrong(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++) {
    double *w = weights_of(out, i);
    host_of(self)->random->uniform(draw->address.seed, draw->address.stream, out->first + i, 0,
                                   out->dim, w);
    for (size_t j = 0; j < out->dim; j++)
      w[j] = sqrt(12) * (w[j] - 0.5);
  }
  return SCL_STATUS_OK;
}

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_DENSE, .draw = draw_wrong);
