/* Thresholds are N(0, 1), and their distribution function is that of N(0, 1.2). */
// caught by: distribution fail
#include "sampler.h"

static double distribution(const void *self, const scl_draw *draw, size_t column, double x) {
  (void)self, (void)draw, (void)column;
  return 0.5 * erfc(-x / sqrt(2.4));
}

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right),
    SCL_OFFER(SCL_ABILITY_DISTRIBUTION, scl_ability_distribution, .distribution = distribution),
    {NULL, NULL}};

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_THRESHOLD, .draw = draw_thresholds);
