/* The probability of a logistic loss of another slope. */
// caught by: probability fail
// says: whose probability is
#include "loss.h"

SCL_LOSS_LOOP(wrong_value, y *f > 0 ? log1p(exp(-y * f)) : log1p(exp(y * f)) - y * f)
SCL_LOSS_LOOP(wrong_slope, -y / (1 + exp(y * f)))
static void wrong_probability(const void *self, size_t count, const double *f, double *out) {
  (void)self;
  for (size_t i = 0; i < count; i++)
    out[i] = 1 / (1 + exp(-1.1 * f[i]));
}
BROKEN_LOSS_OF(SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LOSS_PROBABILITY, scl_ability_loss_probability,
                                       .probability = wrong_probability)),
               .targets = SCL_TARGETS_CLASSES, .value = wrong_value, .slope = wrong_slope,
               .facts = NULL)
