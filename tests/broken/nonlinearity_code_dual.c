/* P(same side) = 1 - angle/pi for means of 0, with the angle taken for its cosine. */
// caught by: code-dual fail
#define BROKEN_WORDS 1
#define BROKEN_CODE(z) ((z) > 0 ? 1 : 0)
#include "codes.h"

static double collision(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                        double covariance) {
  const double size = sqrt(var_a * var_b);
  (void)self;
  return mean_a != 0 || mean_b != 0 || !(size > 0) ? NAN : (1 + covariance / size) / 2;
}

static const scl_ability_code_dual dual = {SCL_HEAD(scl_ability_code_dual), collision};
static const scl_ability abilities[] = {
    {SCL_ABILITY_CATEGORIES, &coded}, {SCL_ABILITY_CODE_DUAL, &dual}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
