/* Half the deviance of gamma-distributed sizes with mean exp f:
 *   l(f, y) = y exp(-f) + f - 1 - log y = exp d - 1 - d, d = log y - f
 *   l*(s)   = u log u - u + 1 + s log y, u = 1 - s >= 0 */
#include "shared/deviances.h"
#include "shared/loss_slots.h"

SCL_LOSS_LOOP(value, deviance_value(2, f, y))
SCL_LOSS_LOOP(slope, deviance_slope(2, f, y))
SCL_LOSS_LOOP(curvature, deviance_curvature(2, f, y))
SCL_LOSS_LOOP(conjugate, deviance_conjugate(2, f, y))
LOSS_MEAN(exp(f))

const scl_plugin scullery_plugin = {
    .name = "gamma",
    .summary = "Gamma regression of positive sizes: half the deviance, with f the log of the mean",
    .definition = "range() = { 0, inf }\n"
                  "l(f, y) = y*exp(-f) + f - 1 - log(y)\n"
                  "mean(f) = exp(f)",
    .doc = "l(f, y) = y exp(-f) + f - 1 - log y, y > 0: minus the log-likelihood of gamma\n"
           "variables with mean exp f, over their shape, less its value at the best f.\n"
           "Predictions are the means exp f.",
    SCL_LOSS(.targets = SCL_TARGETS_NUMBERS, .range = SCL_RANGE_OPEN, .low = 0, .high = INFINITY,
             .lipschitz = INFINITY, .curvature = INFINITY, .value = value, .slope = slope),
    SCL_ABILITIES(LOSS_OFFER_CURVATURE, LOSS_OFFER_CONJUGATE, LOSS_OFFER_MEAN)};
