/* Arc-cosine kernels of any order (Cho and Saul 2009, Kernel methods for deep learning), for unit
 * vectors at angle theta:
 *
 *   k_n(theta) = 2 E[ Theta(a) Theta(b) a^n b^n ] = J_n(theta)/pi
 *
 * with (a, b) standard normal of correlation r = cos theta. So k(x, y) = |x|^n |y|^n k_n belongs to
 * sqrt2 Theta(z) z^n on N(0, I) rows, and k_n(0) = 1 3 5 ... (2n - 1).
 *
 * With E_n = E[a_+^n b_+^n] and G_n = E[a_+^(n-2) b_+^n], integration by parts (Stein) gives, from
 * J_0 and J_1 on:
 *
 *   G_2 = E_0 + r sin(theta)/(2 pi)
 *   G_n = (n - 1) E_(n-2) + r (n - 2) G_(n-1)
 *   E_n = (n - 1) G_n + n r E_(n-1) */
#ifndef SCULLERY_SHARED_ARCCOS_H
#define SCULLERY_SHARED_ARCCOS_H

#include "shared/normal.h"

/* k_n(theta) of r = cos theta, its sine and rest = pi - theta. */
static inline double arccos_of(int order, double r, double sine, double rest) {
  double before = rest / SCL_PI, now = (sine + rest * r) / SCL_PI, mixed = 0;
  if (order == 0) return before;
  for (int n = 2; n <= order; n++) {
    mixed = n == 2 ? before + r * sine / SCL_PI : (n - 1) * before + r * (n - 2) * mixed;
    const double next = (n - 1) * mixed + n * r * now;
    before = now;
    now = next;
  }
  return now > 0 ? now : 0;
}

static inline double arccos_kernel(int order, double cos_theta) {
  const double r = cos_theta > 1 ? 1 : cos_theta < -1 ? -1 : cos_theta, sine = normal_rest(r);
  return arccos_of(order, r, sine, atan2(sine, -r)); /* pi - theta */
}

#endif
