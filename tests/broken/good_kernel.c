/* Nothing is wrong: all tests pass. */
#include "kernel.h"

BROKEN_GRAM_RIGHT

/* Under N(m, s^2): u' = (u s^2 + m)/(s^2 + 1), v^2 = s^2/(s^2 + 1),
 * log c(u) = -log(1 + s^2)/2 - (u - m)^2/(2 (s^2 + 1)). */
static scl_status tilt(const void *self, const scl_law *law, scl_tilt *out, scl_error *error) {
  if (law->family != SCL_FAMILY_GAUSSIAN)
    return ((const scl_base *)self)
        ->host->fail(error, SCL_STATUS_UNSUPPORTED, "takes Gaussian laws");
  out->log_one = out->log_diagonal = out->log_mass = 0;
  for (size_t j = 0; j < out->dim; j++) {
    const double m = law->mean[j], s2 = law->scale[j] * law->scale[j];
    out->offset[j] = m / (s2 + 1);
    out->shrink[j] = s2 / (s2 + 1);
    out->spread[j] = sqrt(s2 / (s2 + 1));
    out->log0[j] = -log(1 + s2) / 2 - m * m / (2 * (s2 + 1));
    out->log1[j] = m / (s2 + 1);
    out->log2[j] = -1 / (2 * (s2 + 1));
    out->log_mass -= log(1 + 2 * s2) / 2;
    out->correlation[j] = s2 / (s2 + 1);
    out->pair_scale[j] = sqrt(s2 * (s2 + 1) / (2 * s2 + 1));
  }
  return SCL_STATUS_OK;
}

static const scl_ability abilities[] = {SCL_OFFER(SCL_ABILITY_TILT, scl_ability_tilt, .tilt = tilt),
                                        {NULL, NULL}};

BROKEN_KERNEL(abilities, .gram = gram);
