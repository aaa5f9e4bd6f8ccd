/* The step, with Theta(0) = 0:
 *   phi(z) = Theta(z), 1 where z > 0, else 0
 *
 * Smoothing:      S(m, v) = F(m/v)
 * Gaussian dual:  P(a > 0, b > 0) = F2(h, k; r), for means of 0 (1 - theta/pi)/2: half of that of
 *                 arccos{order = 0}, which is sqrt2 Theta
 * Threshold dual: E 1[t < a] 1[t < b]
 * Codes:          collision 1 - theta/pi */
#include "shared/half_space.h"

SCL_LOOPS(z > 0 ? 1 : 0)

static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  half_space_smooth(self, count, m, v, out);
  half_space_lift(count, 0.5, out);
}

static void smooth_float32(const void *self, size_t count, const float *m, const float *v,
                           float *out) {
  half_space_smooth_float32(self, count, m, v, out);
  for (size_t j = 0; j < count; j++)
    out[j] = 0.5f + 0.5f * out[j];
}

static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  (void)self;
  return half_space_both(mean_a, mean_b, var_a, var_b, covariance, false);
}

static double collision(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                        double covariance) {
  (void)self;
  return half_space_same(mean_a, mean_b, var_a, var_b, covariance, false);
}

static double threshold_dual(const void *self, double distribution_a, double distribution_b) {
  (void)self;
  return fmin(distribution_a, distribution_b);
}

const scl_plugin scullery_plugin = {
    .name = "step",
    .summary = "1 where z > 0, else 0",
    .definition = "phi(z) = when(z > 0, 1, 0)",
    .doc =
        "phi(z) = Theta(z) in {0, 1}, Theta(0) = 0. One number in, one feature out.\n"
        "On Gaussian rows it estimates (1 - theta/pi)/2, theta the angle of x and y; with means,\n"
        "P(a > 0, b > 0) by the bivariate normal distribution function. arccos{order = 0} is\n"
        "sqrt2 times it: the arc-cosine kernel of order 0.\n"
        "On thresholds: min(P(t < x_i), P(t < y_i)), averaged over the columns.\n"
        "As codes: P(same code) = 1 - theta/pi.\n"
        "In an RKHS weighting it becomes F(m/v), F the normal distribution function.",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula),
    HALF_SPACE_ABILITIES(smooth, .low = 0, .high = 1)};
