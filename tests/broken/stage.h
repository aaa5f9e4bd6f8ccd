/* What wrong row stages share: the stage of `scullery plugin new`, some slots of which they
 * replace. */
#ifndef BROKEN_STAGE_H
#define BROKEN_STAGE_H

#include <scullery/plugin.h>

#define scullery_plugin right_stage
#include "../../lua/scullery/templates/stage.c"
#undef scullery_plugin

/* The descriptor, with the members of the table that are wrong, each of which replaces the right
 * one: BROKEN_STAGE(.apply = wrong_apply) */
#define BROKEN_STAGE(...) \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"") \
      const scl_plugin scullery_plugin = { \
          .name = "broken", \
          .summary = "A row stage that is wrong in one way", \
          .doc = "Columns cut to mean +- reach deviations, but for what is wrong with it.", \
          .version = "1.0", \
          SCL_STAGE(.flags = SCL_STAGE_HOMOGENEOUS | SCL_STAGE_BY_COLUMN, .arrays = "low|high", \
                    .fit = fit, .apply = apply, __VA_ARGS__), \
          SCL_INSTANCE(winsor, options)}; \
  _Pragma("GCC diagnostic pop")

/* Puts low and high, d numbers each. */
static inline scl_status put_both(const scl_fitting *fitting, const double *low, const double *high,
                                  scl_error *error) {
  const size_t d = fitting->rows->dim;
  const scl_array lows = scl_matrix_array(low, 1, d), highs = scl_matrix_array(high, 1, d);
  const scl_status status = fitting->put(fitting, "low", &lows, error);
  return status == SCL_STATUS_OK ? fitting->put(fitting, "high", &highs, error) : status;
}

#endif
