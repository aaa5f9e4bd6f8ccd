/* Probabilities of half-spaces under normal laws, for sign, step, erf and the arc-cosine feature of
 * order 0. */
#include "shared/half_space.h"

#include "shared/normal.h"

/* P(a > 0), also for variance 0. */
static double half_space_probability(double mean, double variance, bool zero) {
  if (variance > 0) return normal_cdf(mean / sqrt(variance));
  return mean > 0 || (zero && mean == 0) ? 1 : 0;
}

double half_space_both(double mean_a, double mean_b, double var_a, double var_b, double covariance,
                       bool zero) {
  if (!(var_a > 0) || !(var_b > 0))
    return half_space_probability(mean_a, var_a, zero) *
           half_space_probability(mean_b, var_b, zero);
  return bivariate_normal_cdf(mean_a / sqrt(var_a), mean_b / sqrt(var_b),
                              normal_correlation(var_a, var_b, covariance));
}

double half_space_same(double mean_a, double mean_b, double var_a, double var_b, double covariance,
                       bool zero) {
  const double both = half_space_both(mean_a, mean_b, var_a, var_b, covariance, zero);
  return 1 - half_space_probability(mean_a, var_a, zero) -
         half_space_probability(mean_b, var_b, zero) + 2 * both;
}

void half_space_smooth(const void *self, size_t count, const double *m, const double *v,
                       double *out) {
  const double root = sqrt(0.5);
  for (size_t j = 0; j < count; j++)
    out[j] = m[j] / v[j] * root;
  ((const scl_base *)self)->host->math->erf(count, out, out);
}

void half_space_smooth_float32(const void *self, size_t count, const float *m, const float *v,
                               float *out) {
  const float root = 0.70710678f;
  for (size_t j = 0; j < count; j++)
    out[j] = m[j] / v[j] * root;
  ((const scl_base *)self)->host->math->erff(count, out, out);
}

void half_space_lift(size_t count, double half, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = half + half * out[j];
}
