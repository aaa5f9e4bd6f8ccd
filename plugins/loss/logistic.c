/* The logistic loss of two classes, l(f, y) = log(1 + exp(-y f)): minus the log-likelihood of
 * P(y = 1) = 1/(1 + exp(-f)). l*(s) = q log q + (1 - q) log(1 - q), q = -s y. */
#include "shared/loss_slots.h"

static const loss_choice choice = {.loss = LOSS_LOGISTIC};

LOSS_SLOTS(&choice)
SCL_LOSS_LOOP(curvature, losses[LOSS_LOGISTIC].curvature(f, y))
SCL_LOSS_LOOP(conjugate, -f *y<0 || -f * y> 1 ? INFINITY : losses[LOSS_LOGISTIC].conjugate(f, y))

static void probability(const void *self, size_t count, const double *f, double *out) {
  (void)self;
  for (size_t i = 0; i < count; i++)
    out[i] = losses[LOSS_LOGISTIC].probability(f[i]);
}

const scl_plugin scullery_plugin = {
    .name = "logistic",
    .summary = "The logistic loss of classes, log(1 + exp(-y f))",
    .definition = "l(f, y) = max(0, -y*f) + log1p(exp(-abs(y*f)))\n"
                  "probability(f) = 1/(1 + exp(-f))",
    .doc = "l(f, y) = log(1 + exp(-y f)), y = +-1. Probabilities are 1/(1 + exp(-f)); of several\n"
           "classes, each against the others, these divided by their sum.",
    SCL_LOSS(.targets = SCL_TARGETS_CLASSES, .lipschitz = 1, .curvature = 0.25, .value = value,
             .slope = slope),
    SCL_ABILITIES(LOSS_OFFER_CURVATURE, LOSS_OFFER_CONJUGATE, LOSS_OFFER_PROBABILITY)};
