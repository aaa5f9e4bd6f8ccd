/* Half the deviance of Tweedie variables with mean exp f (shared/deviances.h). */
#include "shared/deviances.h"
#include "shared/loss_slots.h"

typedef struct tweedie {
  scl_base base;
  double power;
} tweedie;

static const scl_option options[] = {SCL_NUMBER(
    tweedie, power, "1.5", "the variance is mean^power: 1 for Poisson counts, 2 for gamma sizes",
    SCL_WITHIN(1, 2))};

static double power_of(const void *self) { return ((const tweedie *)self)->power; }

static scl_status tweedie_facts(const void *self, scl_loss_facts *out, scl_error *error) {
  (void)error;
  if (power_of(self) == 2) out->range = SCL_RANGE_OPEN;
  return SCL_STATUS_OK;
}

SCL_LOSS_LOOP(value, deviance_value(power_of(self), f, y))
SCL_LOSS_LOOP(slope, deviance_slope(power_of(self), f, y))
SCL_LOSS_LOOP(curvature, deviance_curvature(power_of(self), f, y))
SCL_LOSS_LOOP(conjugate, deviance_conjugate(power_of(self), f, y))
LOSS_MEAN(exp(f))

const scl_plugin scullery_plugin = {
    .name = "tweedie",
    .summary =
        "Tweedie regression of amounts that may be 0: half the deviance, f the log of the mean",
    .definition = "range() = { 0, inf }\n"
                  "e(c, x) = when(c == 0, x, expm1(c*x)/c)\n"
                  "l(f, y) = when(y > 0, y^(2 - power)*(e(power - 1, log(y) - f) + e(2 - power, f "
                  "- log(y))),\n"
                  "  exp((2 - power)*f)/(2 - power))\n"
                  "mean(f) = exp(f)",
    .doc =
        "With a = power - 1, b = 2 - power: l(f, y) = y exp(-a f)/a + exp(b f)/b, less its least\n"
        "value; y >= 0. power = 1 is loss.poisson, power = 2 loss.gamma (y > 0); between them\n"
        "targets are sums of a Poisson number of gamma variables, as claims of a year are.\n"
        "Predictions are the means exp f.",
    SCL_LOSS(.targets = SCL_TARGETS_NUMBERS, .range = SCL_RANGE_HIGH_OPEN, .low = 0,
             .high = INFINITY, .lipschitz = INFINITY, .curvature = INFINITY, .value = value,
             .slope = slope, .facts = tweedie_facts),
    SCL_INSTANCE(tweedie, options),
    SCL_ABILITIES(LOSS_OFFER_CURVATURE, LOSS_OFFER_CONJUGATE, LOSS_OFFER_MEAN)};
