/* The normal law in one and two variables.
 *
 *   f(x)        = exp(-x^2/2)/sqrt(2 pi),   F its distribution function
 *   F2(h, k; r) = P(A <= h, B <= k),   A, B standard normal with correlation r
 *
 * F2 by Owen's function (Owen 1956, Tables for computing bivariate normal probabilities):
 *
 *   T(h, a) = (1/2 pi) integral_0^a exp(-h^2 (1 + x^2)/2)/(1 + x^2) dx
 *   F2      = (F(h) + F(k))/2 - T(h, a_h) - T(k, a_k) - (1/2) 1[0 lies between h and k]
 *   h a_h   = (k - r h)/sqrt(1 - r^2),   k a_k = (h - r k)/sqrt(1 - r^2)
 *
 * The error is some 1e-15 for every h, k and r: T is needed for |a| <= 1 alone, where the integrand
 * is smooth whatever r. */
#ifndef SCULLERY_SHARED_NORMAL_H
#define SCULLERY_SHARED_NORMAL_H

#include <scullery/plugin.h>

static inline double normal_density(double x) { return exp(-x * x / 2) / sqrt(2 * SCL_PI); }

static inline double normal_cdf(double x) { return erfc(-x * sqrt(0.5)) / 2; }

/* E cos N(mean, variance) */
static inline double normal_cosine(double mean, double variance) {
  return exp(-variance / 2) * cos(mean);
}

/* The correlation of two variances and a covariance. Within rounding of +-1 it is +-1: functions of
 * the angle are sensitive to a rounding by its square root, and parallel rows have exactly this
 * correlation. */
static inline double normal_correlation(double var_a, double var_b, double covariance) {
  const double r = covariance / sqrt(var_a) / sqrt(var_b);
  return fabs(r) > 1 - 1e-15 ? copysign(1, r) : r;
}

/* sqrt(1 - r^2), exact to rounding near r = +-1. */
static inline double normal_rest(double r) { return sqrt((1 - r) * (1 + r)); }

/* (k - r h)/sqrt(1 - r^2) without loss where r is near +-1 and k near +-h; 0 where k = r h,
 * whatever r. */
double normal_given(double h, double k, double r);

/* x cut to +-40, where F is 0 or 1 to the last bit. */
static inline double normal_cut(double x) { return x > 40 ? 40 : x < -40 ? -40 : x; }

/* F2(h, k; r); infinite h, k and r = +-1 allowed. */
double bivariate_normal_cdf(double h, double k, double r);

#endif
