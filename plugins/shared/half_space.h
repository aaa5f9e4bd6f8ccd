/* Nonlinearities that depend on the sign of z alone (sign, step, the arc-cosine feature of order
 * 0), and erf, a smoothed sign.
 *
 *   P(a > 0)        = F(h_a),   h = mean/deviation of each side
 *   P(a > 0, b > 0) = F2(h_a, h_b; r)
 *
 * A side of variance 0 is known; `zero` says whether z = 0 counts as positive (sign) or not
 * (step). */
#ifndef SCULLERY_SHARED_HALF_SPACE_H
#define SCULLERY_SHARED_HALF_SPACE_H

#include <scullery/plugin.h>

/* P(a > 0, b > 0) */
double half_space_both(double mean_a, double mean_b, double var_a, double var_b, double covariance,
                       bool zero);

/* P(a and b have the same sign); exactly 1 - theta/pi where both means are 0. */
double half_space_same(double mean_a, double mean_b, double var_a, double var_b, double covariance,
                       bool zero);

/* E sign(N(m, v^2)) = erf(m/(sqrt2 v)), as the loops of scl_ability_smoothing. */
void half_space_smooth(const void *self, size_t count, const double *m, const double *v,
                       double *out);

void half_space_smooth_float32(const void *self, size_t count, const float *m, const float *v,
                               float *out);

/* half = 1/2: from E sign to E step; half = 1/sqrt2: to that of the arc-cosine feature. */
void half_space_lift(size_t count, double half, double *out);

/* The abilities of sign and step, by their functions `dual`, `threshold_dual` and `collision`, by
 * `smooth` and `smooth_float32` under a name of theirs, and by the two values. */
#define HALF_SPACE_ABILITIES(smooth_, ...) \
  SCL_ABILITIES( \
      SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = smooth_, \
                .loop_float32 = smooth_##_float32), \
      SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = dual), \
      SCL_OFFER(SCL_ABILITY_THRESHOLD_DUAL, scl_ability_threshold_dual, .dual = threshold_dual), \
      SCL_OFFER(SCL_ABILITY_CODE_DUAL, scl_ability_code_dual, .collision = collision), \
      SCL_OFFER(SCL_ABILITY_TWO_VALUED, scl_ability_two_valued, __VA_ARGS__), \
      SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = INFINITY, \
                .breaks = (const double[]){0}, .n_breaks = 1, .scale_free = 1))

#endif
