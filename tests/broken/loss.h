/* What wrong losses share: the loss of `scullery plugin new`, some members of which they
 * replace. */
#ifndef BROKEN_LOSS_H
#define BROKEN_LOSS_H

#include <scullery/plugin.h>

#define scullery_plugin right_loss
#include "../../lua/scullery/templates/loss.c"
#undef scullery_plugin

/* The descriptor, with the abilities, and the members of the table that are wrong, each of which
 * replaces the right one: BROKEN_LOSS(.slope = wrong_slope). BROKEN_LOSS_WITH takes abilities. */
#define RIGHT_CURVATURE \
  SCL_OFFER(SCL_ABILITY_LOSS_CURVATURE, scl_ability_loss_curvature, .curvature = curvature)
#define RIGHT_CONJUGATE \
  SCL_OFFER(SCL_ABILITY_LOSS_CONJUGATE, scl_ability_loss_conjugate, .conjugate = conjugate)
#define BROKEN_LOSS(...) \
  BROKEN_LOSS_OF(SCL_ABILITIES(RIGHT_CURVATURE, RIGHT_CONJUGATE), __VA_ARGS__)
#define BROKEN_LOSS_WITH(...) BROKEN_LOSS_OF(SCL_ABILITIES(__VA_ARGS__), .curvature = 1)
#define BROKEN_LOSS_OF(abilities_, ...) \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"") \
      const scl_plugin scullery_plugin = { \
          .name = "broken", \
          .summary = "A loss that is wrong in one way", \
          .doc = "l(f, y) = scale^2 log cosh((f - y)/scale), but for what is wrong with it.", \
          .version = "1.0", \
          SCL_LOSS(.targets = SCL_TARGETS_NUMBERS, .curvature = 1, .value = value, .slope = slope, \
                   .facts = facts, __VA_ARGS__), \
          SCL_INSTANCE(log_cosh, options), \
          abilities_}; \
  _Pragma("GCC diagnostic pop")

#endif
