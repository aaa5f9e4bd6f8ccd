/* The Matern kernel of smoothness nu at distance r in units of its length:
 *   k(r) = 2^(1-nu)/Gamma(nu) (sqrt(2 nu) r)^nu K_nu(sqrt(2 nu) r),   K_nu the modified Bessel function,
 * k(0) = 1. As a mixture of Gaussians: k(r) = E exp(-nu r^2/(2 G)), G ~ Gamma(nu, 1), which with G = e^s is the integral over the line of
 * exp(nu s - e^s - c e^(-s))/Gamma(nu), c = nu r^2/2: analytic in a strip and falling doubly exponentially, so that the trapezoidal rule
 * converges like exp(-pi^2/h). */
#ifndef SCULLERY_SHARED_MATERN_H
#define SCULLERY_SHARED_MATERN_H

#include <math.h>

/* The sum of one side of the rule, from the peak outwards. */
static inline double matern_side(double nu, double c, double peak, double top, double step) {
  double sum = 0;
  for (int k = 1; k < 100000; k++) {
    const double s = peak + k * step, term = exp(nu * s - exp(s) - c * exp(-s) - top);
    sum += term;
    if (term < 1e-18 * (1 + sum)) break;
  }
  return sum;
}

static inline double matern_general(double nu, double r) {
  const double c = nu * r * r / 2;
  if (!(c > 1e-290)) return 1;
  if (isinf(c)) return 0;
  const double at = (nu + sqrt(nu * nu + 4 * c)) / 2, peak = log(at), top = nu * peak - at - c / at;
  const double width = 1 / sqrt(at + c / at), step = fmin(0.2, width / 3);
  const double sum = 1 + matern_side(nu, c, peak, top, step) + matern_side(nu, c, peak, top, -step);
  return exp(top + log(step * sum) - lgamma(nu));
}

/* nu > 0; distance_over_length >= 0. Half-integer smoothness up to 5/2 in its closed form. */
static inline double matern_kernel(double nu, double distance_over_length) {
  const double r = distance_over_length, z = sqrt(2 * nu) * r;
  if (isinf(r) || z > 745) return 0;
  if (nu == 0.5) return exp(-z);
  if (nu == 1.5) return (1 + z) * exp(-z);
  if (nu == 2.5) return (1 + z + z * z / 3) * exp(-z);
  return matern_general(nu, r);
}

#endif
