/* Least absolute deviations: solver.erm with the loss |y - f|. */
#include "shared/erm.h"

static const scl_option options[] = {ERM_OPTIONS};

static scl_status create(void *instance, scl_error *error) {
  erm *self = instance;
  self->formula = &erm_pinball;
  return erm_create(instance, error);
}

const scl_plugin scullery_plugin = {
    .name = "lad",
    .summary = "Least absolute deviations: regression to the median",
    .definition = "l(f, y) = abs(f - y)" ERM_OBJECTIVE,
    .doc = "min (1/N) sum_i w_i |y_i - phi_i a - b| + lambda R(a), by the methods of solver.erm, "
           "with\n"
           "its gap. It is solver.quantile of tau = 0.5 with twice the loss.",
    SCL_SOLVER(.solve = erm_solve),
    SCL_INSTANCE(erm, options),
    SCL_ABILITIES(ERM_FORMULA_OFFER, ERM_OFFERS),
    .create = create,
    .ability = erm_ability};
