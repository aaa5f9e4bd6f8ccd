/* Losses of one score f and one target y that both loss plugins and solvers use.
 *
 * Half the deviance of Tweedie variables of mean exp f and variance mean^p, 1 <= p <= 2 (Jorgensen
 * 1987), with a = p - 1, b = 2 - p, d = f - log y and e_c(x) = (exp(c x) - 1)/c, e_0(x) = x:
 *   l(f, y) = y^b (e_a(-d) + e_b(d)),   exp(b f)/b for y = 0
 * p = 1 are Poisson counts, p = 2 gamma-distributed sizes, between them sums of a Poisson number of
 * gamma variables, which are 0 with a probability.
 *
 * The loss of quantiles (Koenker and Bassett 1978): up r for r = y - f >= 0, else -down r. */
#ifndef SCULLERY_SHARED_DEVIANCES_H
#define SCULLERY_SHARED_DEVIANCES_H

#include <scullery/plugin.h>

static inline double deviance_grown(double c, double x) { return c == 0 ? x : expm1(c * x) / c; }

/* exp(b f) - y^b, d = f - log y: by expm1 where the two are near each other; far above y that is
 * infinite before exp(b f) is. */
static inline double deviance_step(double b, double f, double y, double d) {
  return b * d < 1 ? pow(y, b) * expm1(b * d) : exp(b * f) - pow(y, b);
}

static inline double deviance_value(double p, double f, double y) {
  const double a = p - 1, b = 2 - p, d = f - log(y);
  if (!(y > 0)) return exp(b * f) / b;
  if (b * d < 1) return pow(y, b) * (deviance_grown(a, -d) + deviance_grown(b, d));
  const double above = deviance_step(b, f, y, d) / b;
  return isinf(above) ? above : pow(y, b) * deviance_grown(a, -d) + above;
}

static inline double deviance_slope(double p, double f, double y) {
  const double a = p - 1, b = 2 - p, d = f - log(y);
  return y > 0 ? deviance_step(b, f, y, d) - pow(y, b) * expm1(-a * d) : exp(b * f);
}

static inline double deviance_curvature(double p, double f, double y) {
  const double a = p - 1, b = 2 - p;
  return (a > 0 && y > 0 ? a * exp(log(y) - a * f) : 0) + (b > 0 ? b * exp(b * f) : 0);
}

/* The f of slope s, which rises with f: Newton's steps, kept within halving brackets. */
static inline double deviance_score(double p, double s, double y) {
  enum { STEPS = 200 };
  double low = -1, high = 1, f;
  while (low > -1e300 && deviance_slope(p, log(y) + low, y) > s)
    low *= 2;
  while (high < 1e300 && deviance_slope(p, log(y) + high, y) < s)
    high *= 2;
  low += log(y);
  high += log(y);
  f = (low + high) / 2;
  for (int step = 0; step < STEPS && high - low > 1e-14 * fmax(fabs(low), fabs(high)); step++) {
    const double slope = deviance_slope(p, f, y),
                 next = f - (slope - s) / deviance_curvature(p, f, y);
    if (slope == s) break;
    *(slope > s ? &high : &low) = f;
    f = next > low && next < high ? next : (low + high) / 2;
  }
  return f;
}

/* The largest s f - l(f, y) over f. */
static inline double deviance_conjugate(double p, double s, double y) {
  if (p == 1) {
    const double u = s + y;
    if (u < 0) return INFINITY;
    if (u == 0) return y > 0 ? y - y * log(y) : 0;
    return y > 0 ? u * log(u / y) - s + s * log(y) : u * log(u) - u;
  }
  if (p == 2) {
    const double u = 1 - s;
    if (u < 0) return INFINITY;
    return (u > 0 ? u * log(u) - u : 0) + 1 + s * log(y);
  }
  if (y > 0) {
    const double f = deviance_score(p, s, y);
    return s * f - deviance_value(p, f, y);
  }
  return s < 0 ? INFINITY : s > 0 ? s * (log(s) - 1) / (2 - p) : 0;
}

static inline double pinball_value(double up, double down, double f, double y) {
  return fmax(up * (y - f), -down * (y - f));
}
static inline double pinball_slope(double up, double down, double f, double y) {
  return f < y ? -up : f > y ? down : 0;
}
static inline double pinball_conjugate(double up, double down, double s, double y) {
  return s < -up || s > down ? INFINITY : s * y;
}
static inline double pinball_proximal(double up, double down, double z, double y, double t) {
  return fmin(fmax(y, z - t * down), z + t * up);
}

#endif
