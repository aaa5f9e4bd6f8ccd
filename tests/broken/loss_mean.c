/* The mean of counts without its factor. */
// caught by: mean fail
// says: whose mean is
#include "loss.h"

SCL_LOSS_LOOP(wrong_value, exp(f) - y * f)
SCL_LOSS_LOOP(wrong_slope, exp(f) - y)
static void wrong_mean(const void *self, size_t count, const double *f, double *out) {
  (void)self;
  for (size_t i = 0; i < count; i++)
    out[i] = 1.02 * exp(f[i]);
}
BROKEN_LOSS_OF(SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LOSS_MEAN, scl_ability_loss_mean,
                                       .mean = wrong_mean)),
               .targets = SCL_TARGETS_NUMBERS, .range = SCL_RANGE_HIGH_OPEN, .low = 0,
               .high = INFINITY, .value = wrong_value, .slope = wrong_slope, .facts = NULL)
