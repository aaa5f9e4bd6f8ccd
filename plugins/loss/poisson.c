/* Half the deviance of Poisson counts with mean exp f:
 *   l(f, y) = exp f - y f + y log y - y = y (exp d - 1 - d), d = f - log y;  exp f for y = 0
 *   l*(s)   = u log(u/y) - s + s log y, u = s + y >= 0;  u log u - u for y = 0 */
#include "shared/deviances.h"
#include "shared/loss_slots.h"

SCL_LOSS_LOOP(value, deviance_value(1, f, y))
SCL_LOSS_LOOP(slope, deviance_slope(1, f, y))
SCL_LOSS_LOOP(curvature, deviance_curvature(1, f, y))
SCL_LOSS_LOOP(conjugate, deviance_conjugate(1, f, y))
LOSS_MEAN(exp(f))

const scl_plugin scullery_plugin = {
    .name = "poisson",
    .summary = "Poisson regression of counts: half the deviance, with f the log of the mean",
    .definition = "range() = { 0, inf }\n"
                  "l(f, y) = exp(f) - y*f + when(y > 0, y*log(y) - y, 0)\n"
                  "mean(f) = exp(f)",
    .doc = "l(f, y) = exp f - y f + y log y - y, y >= 0: minus the log-likelihood of counts with\n"
           "mean exp f, less its value at the best f. Predictions are the means exp f.",
    SCL_LOSS(.targets = SCL_TARGETS_NUMBERS, .range = SCL_RANGE_HIGH_OPEN, .low = 0,
             .high = INFINITY, .lipschitz = INFINITY, .curvature = INFINITY, .value = value,
             .slope = slope),
    SCL_ABILITIES(LOSS_OFFER_CURVATURE, LOSS_OFFER_CONJUGATE, LOSS_OFFER_MEAN)};
