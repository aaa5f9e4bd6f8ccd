/* Tweedie regression: solver.erm with half the deviance of Tweedie variables. */
#include "shared/erm.h"

static const scl_option options[] = {
    SCL_NUMBER(erm, power, "1.5",
               "the variance is mean^power: 1 for Poisson counts, 2 for gamma sizes",
               SCL_WITHIN(1, 2)),
    ERM_SMOOTH_OPTIONS};

static scl_status create(void *instance, scl_error *error) {
  erm *self = instance;
  self->formula = &erm_deviance;
  return erm_create(instance, error);
}

const scl_plugin scullery_plugin = {
    .name = "tweedie",
    .summary = "Tweedie regression of amounts that may be 0, with a log link",
    .definition = "p() = power" ERM_DEVIANCE,
    .doc =
        "min (1/N) sum_i w_i l(phi_i a + b, y_i) + lambda R(a), l half the deviance of Tweedie\n"
        "variables y >= 0 with mean exp(phi a + b) and variance mean^power (loss.tweedie), by the\n"
        "methods of solver.erm, with its gap. power = 1 is solver.poisson, 2\n"
        "solver.gamma_regression. Predictions are means; p:decision has their logarithms.",
    SCL_SOLVER(.solve = erm_solve),
    SCL_INSTANCE(erm, options),
    SCL_ABILITIES(ERM_FORMULA_OFFER, ERM_OFFERS),
    .create = create,
    .ability = erm_ability};
