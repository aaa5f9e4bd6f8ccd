/* The dual of z^2 forgets the products of means: E a^2 b^2 = (var_a + m_a^2)(var_b + m_b^2)
 * + 2 cov^2 + 4 cov m_a m_b. */
// caught by: gaussian-dual fail
// says: E phi(a) phi(b)
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] * z[j];
}

static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  (void)self;
  return (var_a + mean_a * mean_a) * (var_b + mean_b * mean_b) + 2 * covariance * covariance;
}

static const scl_ability_gaussian_dual gaussian_dual = {SCL_HEAD(scl_ability_gaussian_dual), dual};
static const scl_ability abilities[] = {{SCL_ABILITY_GAUSSIAN_DUAL, &gaussian_dual}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
