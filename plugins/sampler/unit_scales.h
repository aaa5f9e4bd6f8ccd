/* Samplers whose features are no mean over parameters: every factor is 1, in place of 1/sqrt(T). */
#ifndef SCULLERY_SAMPLER_UNIT_SCALES_H
#define SCULLERY_SAMPLER_UNIT_SCALES_H

#include <scullery/plugin.h>

static inline scl_status unit_scales(const void *self, const scl_draw *draw,
                                     const scl_const_parameters *parameters, double *out,
                                     scl_error *error) {
  (void)self, (void)draw, (void)error;
  for (size_t t = 0; t < parameters->count; t++)
    out[t] = 1;
  return SCL_STATUS_OK;
}

#define UNIT_SCALES SCL_OFFER(SCL_ABILITY_SCALES, scl_ability_scales, .scales = unit_scales)

#endif
