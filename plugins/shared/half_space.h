/* Nonlinearities that know the sign of z alone: sign, step, the arc-cosine feature of order 0.
 *
 * `zero` says whether z = 0 counts as positive (sign) or not (step). With h = mean/sd of each side,
 *   P(a > 0) = F(h_a),   P(a > 0, b > 0) = F2(h_a, h_b; r),
 * a side of variance 0 being known. */
#ifndef SCULLERY_SHARED_HALF_SPACE_H
#define SCULLERY_SHARED_HALF_SPACE_H

#include "shared/normal.h"
#include "shared/pointwise.h"

static inline double half_space_probability(double mean, double variance, int zero) {
  if (variance > 0) return normal_cdf(mean / sqrt(variance));
  return mean > 0 || (zero && mean == 0) ? 1 : 0;
}

/* P(both positive) */
static inline double half_space_both(double mean_a, double mean_b, double var_a, double var_b,
                                     double covariance, int zero) {
  if (!(var_a > 0) || !(var_b > 0))
    return half_space_probability(mean_a, var_a, zero) *
           half_space_probability(mean_b, var_b, zero);
  return bivariate_normal_cdf(mean_a / sqrt(var_a), mean_b / sqrt(var_b),
                              normal_correlation(var_a, var_b, covariance));
}

/* P(the same side); exact where both means are 0: 1 - theta/pi. */
static inline double half_space_same(double mean_a, double mean_b, double var_a, double var_b,
                                     double covariance, int zero) {
  const double both = half_space_both(mean_a, mean_b, var_a, var_b, covariance, zero);
  return 1 - half_space_probability(mean_a, var_a, zero) -
         half_space_probability(mean_b, var_b, zero) + 2 * both;
}

/* E sign(N(m, v^2)) = erf(m/(sqrt2 v)); out may be m. */
static inline void half_space_smooth(const pointwise *self, size_t count, const double *m,
                                     const double *v, double *out) {
  const double root = sqrt(0.5);
  for (size_t j = 0; j < count; j++)
    out[j] = m[j] / v[j] * root;
  self->math->erf(count, out, out);
}

static inline void half_space_smooth_f32(const pointwise *self, size_t count, const float *m,
                                         const float *v, float *out) {
  const float root = 0.70710678f;
  for (size_t j = 0; j < count; j++)
    out[j] = m[j] / v[j] * root;
  self->math->erff(count, out, out);
}

/* out = low + gain * out: from the sign's expectation to a step's. */
static inline void half_space_turn(size_t count, double low, double gain, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = low + gain * out[j];
}

static inline void half_space_turn_f32(size_t count, float low, float gain, float *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = low + gain * out[j];
}

/* ---------------------------------------------------------------- codes: 1 for positive, 0 for
 * negative */

static inline scl_status half_space_key(const void *instance, size_t planes, size_t *words,
                                        size_t *levels, scl_error *error) {
  (void)instance;
  (void)planes;
  (void)error;
  *words = 1;
  *levels = 2;
  return SCL_STATUS_OK;
}

static inline void half_space_codes(const scl_block *z, int zero, int32_t *out,
                                    ptrdiff_t row_stride) {
  for (size_t i = 0; i < z->rows; i++) {
    const double *wide = (const double *)z->data +
                         (z->dtype == SCL_DTYPE_FLOAT64 ? (ptrdiff_t)i * z->row_stride : 0);
    const float *narrow =
        (const float *)z->data + (z->dtype == SCL_DTYPE_FLOAT64 ? 0 : (ptrdiff_t)i * z->row_stride);
    int32_t *row = out + (ptrdiff_t)i * row_stride;
    if (z->dtype == SCL_DTYPE_FLOAT64)
      for (size_t j = 0; j < z->cols; j++)
        row[j] = zero ? wide[j] >= 0 : wide[j] > 0;
    else
      for (size_t j = 0; j < z->cols; j++)
        row[j] = zero ? narrow[j] >= 0 : narrow[j] > 0;
  }
}

#endif
