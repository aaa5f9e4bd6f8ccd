/* Half the deviance of Poisson counts with mean exp f:
 *   l(f, y) = exp f - y f + y log y - y = y (exp d - 1 - d), d = f - log y;  exp f for y = 0
 *   l*(s)   = u log(u/y) - s + s log y, u = s + y >= 0;  u log u - u for y = 0 */
#include "shared/loss_slots.h"

static double deviance(double f, double y) {
  const double d = f - log(y);
  return y > 0 ? y * (expm1(d) - d) : exp(f);
}

static double conjugate_of(double s, double y) {
  const double u = s + y;
  if (u < 0) return INFINITY;
  if (u == 0) return y > 0 ? y - y * log(y) : 0;
  return y > 0 ? u * log(u / y) - s + s * log(y) : u * log(u) - u;
}

SCL_LOSS_LOOP(value, deviance(f, y))
SCL_LOSS_LOOP(slope, y > 0 ? y * expm1(f - log(y)) : exp(f))
SCL_LOSS_LOOP(curvature, exp(f))
SCL_LOSS_LOOP(conjugate, conjugate_of(f, y))
LOSS_MEAN(exp(f))

const scl_plugin scullery_plugin = {
    .name = "poisson",
    .summary = "Poisson regression of counts: half the deviance, with f the log of the mean",
    .doc = "l(f, y) = exp f - y f + y log y - y, y >= 0: minus the log-likelihood of counts with\n"
           "mean exp f, less its value at the best f. Predictions are the means exp f.",
    SCL_LOSS(.targets = SCL_TARGETS_NUMBERS, .range = SCL_RANGE_HIGH_OPEN, .low = 0,
             .high = INFINITY, .lipschitz = INFINITY, .curvature = INFINITY, .value = value,
             .slope = slope),
    SCL_ABILITIES(LOSS_OFFER_CURVATURE, LOSS_OFFER_CONJUGATE, LOSS_OFFER_MEAN)};
