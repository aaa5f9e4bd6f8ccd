/* The exponential loss of classes, l(f, y) = exp(-y f); l*(s) = u log u - u, u = -s y >= 0. */
#include "shared/loss_slots.h"

/* u log u - u */
static double entropy(double u) { return u > 0 ? u * log(u) - u : u < 0 ? INFINITY : 0; }

SCL_LOSS_LOOP(value, exp(-y *f))
SCL_LOSS_LOOP(slope, -y *exp(-y *f))
SCL_LOSS_LOOP(curvature, exp(-y *f))
SCL_LOSS_LOOP(conjugate, entropy(-f *y))

/* The minimiser of the mean is half of the log-odds. */
static void probability(const void *self, size_t count, const double *f, double *out) {
  (void)self;
  for (size_t i = 0; i < count; i++)
    out[i] = 1 / (1 + exp(-2 * f[i]));
}

const scl_plugin scullery_plugin = {
    .name = "exponential",
    .summary = "The exponential loss of classes, exp(-y f)",
    .definition = "l(f, y) = exp(-y*f)\n"
                  "probability(f) = 1/(1 + exp(-2*f))",
    .doc = "l(f, y) = exp(-y f), y = +-1: the loss of AdaBoost. The least mean is at half of the\n"
           "log-odds, so that probabilities are 1/(1 + exp(-2 f)) (Friedman, Hastie and\n"
           "Tibshirani 2000).",
    SCL_LOSS(.targets = SCL_TARGETS_CLASSES, .lipschitz = INFINITY, .curvature = INFINITY,
             .value = value, .slope = slope),
    SCL_ABILITIES(LOSS_OFFER_CURVATURE, LOSS_OFFER_CONJUGATE, LOSS_OFFER_PROBABILITY)};
