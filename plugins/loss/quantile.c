/* The loss of quantiles (Koenker and Bassett 1978), with r = y - f:
 *   l(f, y) = tau r for r >= 0, else (tau - 1) r
 *   l*(s)   = s y for -tau <= s <= 1 - tau */
#include "shared/deviances.h"
#include "shared/loss_slots.h"

typedef struct quantile {
  scl_base base;
  double tau;
} quantile;

static const scl_option options[] = {SCL_NUMBER(
    quantile, tau, "0.5", "which quantile of the target: 0.5 is the median", SCL_BETWEEN(0, 1))};

static double tau_of(const void *self) { return ((const quantile *)self)->tau; }

static scl_status quantile_facts(const void *self, scl_loss_facts *out, scl_error *error) {
  (void)error;
  out->lipschitz = fmax(tau_of(self), 1 - tau_of(self));
  return SCL_STATUS_OK;
}

SCL_LOSS_LOOP(value, pinball_value(tau_of(self), 1 - tau_of(self), f, y))
SCL_LOSS_LOOP(slope, pinball_slope(tau_of(self), 1 - tau_of(self), f, y))
SCL_LOSS_LOOP(conjugate, pinball_conjugate(tau_of(self), 1 - tau_of(self), f, y))
LOSS_PROXIMAL(pinball_proximal(tau_of(self), 1 - tau_of(self), z, y, t))

const scl_plugin scullery_plugin = {
    .name = "quantile",
    .summary = "The loss of quantiles; tau = 0.5: half of the absolute error",
    .definition = "range() = { -inf, inf }\n"
                  "l(f, y) = max(tau*(y - f), (tau - 1)*(y - f))",
    .doc = "l(f, y) = tau r for r = y - f >= 0, else (tau - 1) r. The least mean is at the\n"
           "conditional tau-quantile of y (Koenker and Bassett 1978).",
    SCL_LOSS(.targets = SCL_TARGETS_NUMBERS, .flags = SCL_LOSS_KINKS, .curvature = INFINITY,
             .value = value, .slope = slope, .facts = quantile_facts),
    SCL_INSTANCE(quantile, options),
    SCL_ABILITIES(LOSS_OFFER_CONJUGATE, LOSS_OFFER_PROXIMAL)};
