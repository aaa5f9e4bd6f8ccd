/* The Matern kernel of any smoothness nu > 0, as a function of r = distance / width:
 *
 *   M(r) = 2^(1-nu)/Gamma(nu) a^nu K_nu(a),   a = sqrt(2 nu) r
 *
 * It is a mixture of Gaussian kernels exp(-r^2/(2 v)), v = exp(x), whose precision 1/v is
 * Gamma(nu)/nu distributed:
 *
 *   M(r) = N(r)/N(0),   N(r) = integral of exp(h(x)) dx
 *   h(x) = nu (x + 1 - exp(x)) - (r^2/2) exp(-x)
 *   N(0) = Gamma(nu) exp(nu) nu^-nu
 *
 * The integrand is analytic and falls off doubly exponentially, so the trapezoidal rule around its
 * peak converges to the last digits. */
#ifndef SCULLERY_SHARED_MATERN_H
#define SCULLERY_SHARED_MATERN_H

#include "shared/log_gamma.h"
#include <scullery/plugin.h>

/* log N(0); for large nu by Stirling's series, where the terms would cancel. */
static inline double matern_log_norm(double nu) {
  if (nu < 100) return log_gamma(nu) + nu - nu * log(nu);
  return 0.5 * log(2 * SCL_PI / nu) + 1 / (12 * nu) - 1 / (360 * nu * nu * nu);
}

/* exp(x) - 1 - x, near 0 without its cancellation */
static inline double matern_excess(double x) {
  if (fabs(x) > 0.01) return expm1(x) - x;
  return x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6))));
}

/* The sum of exp(h(x) - h(peak)) over x = peak + k step, k = 1, 2, ...: away from the peak on one
 * side. left and right are the weights of exp(x) and exp(-x) there, whose slopes cancel. */
static inline double matern_side(double right, double left, double step) {
  const double least = -40;
  double sum = 0;
  for (double k = 1;; k++) {
    const double value = -right * matern_excess(k * step) - left * matern_excess(-k * step);
    if (!(value >= least)) return sum;
    sum += exp(value);
  }
}

/* exp(-a) times a polynomial: nu = 1/2, 3/2, 5/2. */
static inline double matern_closed(double nu, double a) {
  if (a > 800) return 0;
  return exp(-a) * (nu == 0.5 ? 1 : nu == 1.5 ? 1 + a : 1 + a + a * a / 3);
}

static inline double matern_kernel(double nu, double r) {
  const double half = r * r / 2, coarse = 0.15, share = 0.55;
  if (half == 0) return 1;
  if (!isfinite(half) || !isfinite(4 * half / nu)) return 0; /* below 1e-290, if not 0 */
  if (nu == 0.5 || nu == 1.5 || nu == 2.5) return matern_closed(nu, sqrt(2 * nu) * r);
  /* At the peak exp(x) = 1 + more. */
  const double more = 2 * half / nu / (1 + sqrt(1 + 4 * half / nu)), right = nu * (1 + more),
               left = half / (1 + more);
  const double step = fmin(coarse, share / sqrt(right + left)),
               peak = nu * (log1p(more) - more) - left;
  const double sum = 1 + matern_side(right, left, step) + matern_side(right, left, -step);
  return fmin(exp(peak + log(step * sum) - matern_log_norm(nu)), 1);
}

#endif
