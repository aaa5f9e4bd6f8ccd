/* Gamma regression: solver.erm with half the deviance of gamma variables. */
#include "shared/erm.h"

static const scl_option options[] = {ERM_SMOOTH_OPTIONS};

static scl_status create(void *instance, scl_error *error) {
  erm *self = instance;
  self->formula = &erm_deviance;
  self->power = 2;
  return erm_create(instance, error);
}

const scl_plugin scullery_plugin = {
    .name = "gamma_regression",
    .summary = "Gamma regression of positive sizes, with a log link",
    .definition = "p() = 2" ERM_DEVIANCE,
    .doc = "min (1/N) sum_i w_i l(phi_i a + b, y_i) + lambda R(a), l half the deviance of sizes y "
           "> 0\n"
           "with mean exp(phi a + b) (loss.gamma), by the methods of solver.erm, with its gap.\n"
           "Predictions are means; p:decision has their logarithms.",
    SCL_SOLVER(.solve = erm_solve),
    SCL_INSTANCE(erm, options),
    SCL_ABILITIES(ERM_FORMULA_OFFER, ERM_OFFERS),
    .create = create,
    .ability = erm_ability};
