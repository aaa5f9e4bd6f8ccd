/* The sign, with sign(0) = +1:
 *   phi(z) = sign(z)
 *
 * Smoothing:      S(m, v) = erf(m / (sqrt2 v))
 * Gaussian dual:  2 P(same side) - 1, for means of 0 (2/pi) asin(correlation) = 1 - 2 theta/pi
 * Threshold dual: E sign(a - t) sign(b - t) = 1 - 2 P(t between a and b)
 * Codes:          SimHash (Charikar 2002), collision 1 - theta/pi */
#include "shared/half_space.h"

SCL_LOOPS(z < 0 ? -1 : 1)

static double collision(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                        double covariance) {
  (void)self;
  return half_space_same(mean_a, mean_b, var_a, var_b, covariance, true);
}

static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  return 2 * collision(self, mean_a, mean_b, var_a, var_b, covariance) - 1;
}

static double threshold_dual(const void *self, double distribution_a, double distribution_b) {
  (void)self;
  return 1 - 2 * fabs(distribution_a - distribution_b);
}

const scl_plugin scullery_plugin = {
    .name = "sign",
    .summary = "sign(z), sign(0) = +1: stumps on thresholds, half-spaces on dense weights",
    .definition = "phi(z) = when(z >= 0, 1, -1)",
    .doc =
        "phi(z) = sign(z), with sign(0) = +1 so that no feature vanishes by accident.\n"
        "One number in, one feature out.\n"
        "On Gaussian rows it estimates 1 - 2 theta/pi, theta the angle of x and y (with means:\n"
        "by the bivariate normal distribution function). As codes, 1 bit per parameter:\n"
        "P(same code) = 1 - theta/pi (Charikar 2002).\n"
        "On thresholds t ~ U[-a, a] it estimates the stump kernel 1 - |x-y|_1/(a d), for rows in\n"
        "[-a, a]^d. Rahimi and Recht (2008, Uniform approximation of functions with random bases)\n"
        "print it without the 1/d, which the uniform draw of the column brings.\n"
        "In an RKHS weighting it becomes erf(m/(sqrt2 v)) (Dube and Marchand 2023, both\n"
        "instantiations).",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula),
    HALF_SPACE_ABILITIES(half_space_smooth, .low = -1, .high = 1, .zero_is_high = 1)};
