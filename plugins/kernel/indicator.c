/* The indicator of a support: on thresholds 1[same column], on dense rows, which all have all
 * columns, 1:
 *
 *   K(u, w) = 1[u and w have the same support]
 *
 * Tilt: K(u, .) p is p restricted to the support, so every coordinate keeps its law and
 *
 *   c = 1 / C(d, s) */
#include "shared/kernel_tilt.h"

static void indicator_finish(const void *self, const scl_pair_row *row, double *numbers) {
  (void)self;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = 1;
}

static scl_status indicator_tilt(const void *self, const scl_law *law, scl_tilt *out,
                                 scl_error *error) {
  const scl_status status = tilt_check(self, law, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < law->dim; j++) {
    out->offset[j] = law->mean[j];
    out->spread[j] = out->pair_scale[j] = law->scale[j];
    out->shrink[j] = out->correlation[j] = out->log0[j] = out->log1[j] = out->log2[j] = 0;
  }
  out->log_one = out->log_mass = tilt_indicator(law);
  out->log_diagonal = 0;
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "indicator",
    .summary = "1[same support]: the same column of thresholds, the same columns of sparse rows",
    .definition = "K(u, v) = 1",
    .doc =
        "K(u, w) = 1 where u and w have the same support (sparse rows) or column (thresholds),\n"
        "else 0; on dense rows 1. Positive semidefinite; to be multiplied with other kernels, or\n"
        "summed.\n"
        "The other kernels on sparse rows and thresholds have this factor already.",
    SCL_KERNEL(.spaces = SCL_SPACES_KERNEL, .finish = indicator_finish),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_TILT, scl_ability_tilt, .tilt = indicator_tilt))};
