/* Moments of rectified normals, a_+ = max(0, a): for relu, abs and the arc-cosine features.
 *
 *   E a_+     = m F(m/s) + s f(m/s)
 *   E a_+ b_+ = (m_a m_b + c) F2(h, k; r) + m_a s_b f(k) F((h - r k)/t)
 *               + m_b s_a f(h) F((k - r h)/t) + t s_a s_b f(h) f((k - r h)/t)
 *   h = m_a/s_a,   k = m_b/s_b,   c the covariance,   r = c/(s_a s_b),   t = sqrt(1 - r^2)
 *
 * For means of 0 it is (s_a s_b/2 pi)(sin theta + (pi - theta) cos theta). */
#ifndef SCULLERY_SHARED_RECTIFIED_H
#define SCULLERY_SHARED_RECTIFIED_H

#include "shared/closed_form.h"
#include "shared/normal.h"

static inline double rectified_mean(double mean, double spread) {
  if (!(spread > 0)) return mean > 0 ? mean : 0;
  const double h = mean / spread;
  return mean * normal_cdf(h) + spread * normal_density(h);
}

static inline double rectified_pair(double mean_a, double mean_b, double var_a, double var_b,
                                    double covariance) {
  const double sa = sqrt(var_a), sb = sqrt(var_b);
  if (!(sa > 0) || !(sb > 0)) return rectified_mean(mean_a, sa) * rectified_mean(mean_b, sb);
  const double h = normal_cut(mean_a / sa), k = normal_cut(mean_b / sb),
               r = normal_correlation(var_a, var_b, covariance);
  const double given = normal_given(h, k, r);
  const double value = (mean_a * mean_b + covariance) * bivariate_normal_cdf(h, k, r) +
                       mean_a * sb * normal_density(k) * normal_cdf(normal_given(k, h, r)) +
                       mean_b * sa * normal_density(h) * normal_cdf(given) +
                       normal_rest(r) * sa * sb * normal_density(h) * normal_density(given);
  return value > 0 ? value : 0;
}

/* Smoothing works on so many numbers at a time. */
enum { RECTIFIED_CHUNK = 256 };

/* odd = erf(h/sqrt2) and even = exp(-h^2/2), h = m/v. */
static inline void rectified_parts(const scl_vector_math *math, size_t count, const double *m,
                                   const double *v, double *odd, double *even) {
  const double root = sqrt(0.5);
  for (size_t j = 0; j < count; j++) {
    odd[j] = m[j] / v[j] * root;
    even[j] = -odd[j] * odd[j];
  }
  math->erf(count, odd, odd);
  math->exp(count, even, even);
}

/* out = size E |N(m, v^2)| + drift m, out may be m: |z| is (1, 0), max(0, z) = (|z| + z)/2 is
 * (1/2, 1/2).
 *
 *   E |N(m, v^2)| = v sqrt(2/pi) exp(-h^2/2) + m erf(h/sqrt2),   h = m/v */
static inline void rectified_smooth(const scl_vector_math *math, size_t count, const double *m,
                                    const double *v, double size, double drift, double *out) {
  const double peak = size * sqrt(2 / SCL_PI);
  double odd[RECTIFIED_CHUNK] = {0}, even[RECTIFIED_CHUNK] = {0};
  for (size_t from = 0; from < count; from += RECTIFIED_CHUNK) {
    const size_t some = count - from < RECTIFIED_CHUNK ? count - from : RECTIFIED_CHUNK;
    rectified_parts(math, some, m + from, v + from, odd, even);
    for (size_t j = 0; j < some; j++)
      out[from + j] = m[from + j] * (size * odd[j] + drift) + peak * v[from + j] * even[j];
  }
}

/* The abilities of |z| and max(0, z), which have a kink at 0, by their `smooth` and `dual`. */
#define RECTIFIED_ABILITIES                                                                        \
  SCL_ABILITIES(CLOSED_FORM,                                                                       \
                SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = INFINITY, .lipschitz = 1, \
                          .breaks = (const double[]){0}, .n_breaks = 1))

#endif
