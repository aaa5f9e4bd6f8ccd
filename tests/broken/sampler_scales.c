/* The scale of a parameter depends on its place in the batch. */
// caught by: scales fail
#include "sampler.h"

static scl_status scales(const void *self, const scl_draw *draw, const scl_const_parameters *p,
                         double *out, scl_error *error) {
  (void)self, (void)error;
  for (size_t t = 0; t < p->count; t++)
    out[t] = (double)(t + 1) / (double)draw->total;
  return SCL_STATUS_OK;
}

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_SCALES, scl_ability_scales, .scales = scales), {NULL, NULL}};

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_DENSE, .draw = draw_right);
