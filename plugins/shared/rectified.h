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

/* E a_+ b_+, at least 0 whatever rounding says. A side of variance 0 is a constant. */
double rectified_pair(double mean_a, double mean_b, double var_a, double var_b, double covariance);

/* Smoothing works on so many numbers at a time. */
enum { RECTIFIED_CHUNK = 256 };

/* odd = erf(h/sqrt2) and even = exp(-h^2/2), h = m/v. */
void rectified_parts(const scl_vector_math *math, size_t count, const double *m, const double *v,
                     double *odd, double *even);

/* out = size E |N(m, v^2)| + drift m, out may be m: |z| is (1, 0), max(0, z) = (|z| + z)/2 is
 * (1/2, 1/2).
 *
 *   E |N(m, v^2)| = v sqrt(2/pi) exp(-h^2/2) + m erf(h/sqrt2),   h = m/v */
void rectified_smooth(const scl_vector_math *math, size_t count, const double *m, const double *v,
                      double size, double drift, double *out);

/* The abilities of |z| and max(0, z), which have a kink at 0, by their `smooth` and `dual`. */
#define RECTIFIED_ABILITIES \
  SCL_ABILITIES(CLOSED_FORM, \
                SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = INFINITY, .lipschitz = 1, \
                          .breaks = (const double[]){0}, .n_breaks = 1))

#endif
