/* Wrong slots of nonlinearities, for "put". */
#include "specimen.h"

/* The slot `loop` from the value at j. */
#define LOOP(name, value) \
  static void name(const void *self, size_t count, const double *z, double *out) { \
    (void)self; \
    for (size_t j = 0; j < count; j++) \
      out[j] = value; \
  }
#define LOOP_FLOAT32(name, value) \
  static void name(const void *self, size_t count, const float *z, float *out) { \
    (void)self; \
    for (size_t j = 0; j < count; j++) \
      out[j] = value; \
  }

LOOP(loop_sine, 1.5 * sin(z[j]))
LOOP(loop_fast_sine, sin(2 * z[j]))
LOOP(loop_hinge, fabs(z[j]) + 0.1 * fabs(z[j] - 0.37))
LOOP(loop_square, z[j] * z[j])
LOOP(loop_bell, exp(-z[j] * z[j]))
/* A series for the bell that stops too early. */
LOOP_FLOAT32(loop_bell_float32, 1 / (1 + z[j] * z[j] * (1 + z[j] * z[j] / 2)))
/* tanh by exponentials: infinity over infinity where they overflow. */
LOOP(loop_overflows, (exp(z[j]) - exp(-z[j])) / (exp(z[j]) + exp(-z[j])))
LOOP(loop_softplus, (z[j] > 0 ? z[j] : 0) + log1p(exp(-fabs(z[j]))))
LOOP(loop_naive_softplus, log(1 + exp(z[j])))
LOOP_FLOAT32(loop_softplus_float32, logf(1 + expf(z[j])))
LOOP(loop_swallows_nan, z[j] > 0 ? z[j] : 0)
/* The tail behind whole vectors of 4 by another formula. */
LOOP(loop_tail, 1 / (1 + z[j] * z[j]) * (j < count / 4 * 4 ? 1 : 1 + 1e-15))

/* Computes from the first address that is a multiple of 16 on, and skips what is before it. */
static void loop_aligned(const void *self, size_t count, const double *z, double *out) {
  const size_t skip = (uintptr_t)z % 16 != 0 && count > 2;
  loop_square(self, count, z, out);
  if (skip) out[0] = 0;
}

/* Adds a little of the number before. */
static void loop_neighbour(const void *self, size_t count, const double *z, double *out) {
  double before = 0;
  (void)self;
  for (size_t j = 0; j < count; j++) {
    const double now = z[j];
    out[j] = now + 0.01 * before;
    before = now;
  }
}

/* Writes out before it has read z for the last time. */
static void loop_not_in_place(const void *self, size_t count, const double *z, double *out) {
  loop_square(self, count, z, out);
  for (size_t j = 0; j < count; j++)
    out[j] += z[j];
}

static void loop_reads_past(const void *self, size_t count, const double *z, double *out) {
  volatile double next = 0;
  for (size_t j = 0; j < count; j++)
    next = z[j + 1];
  (void)next;
  loop_softplus(self, count, z, out);
}

/* ------------ blocks */

static scl_status apply_packed(const void *self, const scl_const_block *z, const scl_block *out,
                               scl_error *error) {
  (void)error;
  loop_square(self, z->rows * z->cols, z->data, out->data);
  return SCL_STATUS_OK;
}

static scl_status apply_writes_input(const void *self, const scl_const_block *z,
                                     const scl_block *out, scl_error *error) {
  (void)error;
  for (size_t i = 0; i < z->rows; i++) {
    double *from = (double *)(uintptr_t)z->data + (ptrdiff_t)i * z->row_stride;
    loop_square(self, z->cols, from, from);
    memcpy((double *)out->data + (ptrdiff_t)i * out->row_stride, from, z->cols * sizeof *from);
  }
  return SCL_STATUS_OK;
}

static scl_status apply_cosine(const void *self, const scl_const_block *z, const scl_block *out,
                               scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j++)
      ((double *)out->data)[(ptrdiff_t)i * out->row_stride + (ptrdiff_t)j] =
          cos(((const double *)z->data)[(ptrdiff_t)i * z->row_stride + (ptrdiff_t)j]);
  return SCL_STATUS_OK;
}

/* Takes spreads for packed. */
static scl_status smooth_packed(const void *self, const scl_const_block *m, const scl_spread *v,
                                const scl_block *out, scl_error *error) {
  const scl_status status = apply_cosine(self, m, out, error);
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j < m->cols; j++) {
      const double sd = ((const double *)v->data)[i * m->cols + j];
      ((double *)out->data)[(ptrdiff_t)i * out->row_stride + (ptrdiff_t)j] *= exp(-sd * sd / 2);
    }
  return status;
}

/* Takes v for the variance: exp(-v/2) cos(m) for exp(-v^2/2) cos(m). */
static void smooth_by_variance(const void *self, size_t count, const double *m, const double *v,
                               double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = exp(-v[j] / 2) * cos(m[j]);
}

/* ------------ duals */

/* Forgets the products of means: E a^2 b^2 = (var_a + m_a^2)(var_b + m_b^2) + 2 cov^2
 * + 4 cov m_a m_b. */
static double dual_of_square(const void *self, double mean_a, double mean_b, double var_a,
                             double var_b, double covariance) {
  (void)self;
  return (var_a + mean_a * mean_a) * (var_b + mean_b * mean_b) + 2 * covariance * covariance;
}

/* Lacks the factor 2 of 1 - 2 |F(a) - F(b)|. */
static double dual_of_thresholds(const void *self, double distribution_a, double distribution_b) {
  (void)self;
  return 1 - fabs(distribution_a - distribution_b);
}

/* 1 - angle/pi for means of 0, with the angle taken for its cosine. */
static double collision_by_cosine(const void *self, double mean_a, double mean_b, double var_a,
                                  double var_b, double covariance) {
  const double size = sqrt(var_a * var_b);
  (void)self;
  return mean_a != 0 || mean_b != 0 || !(size > 0) ? NAN : (1 + covariance / size) / 2;
}

/* ------------ categories: sign(z) as a code */

#define KEY(name, n_words, n_levels) \
  static scl_status name(const void *self, size_t planes, size_t *words, size_t *levels, \
                         scl_error *error) { \
    (void)self, (void)planes, (void)error; \
    *words = n_words; \
    *levels = n_levels; \
    return SCL_STATUS_OK; \
  }
#define CODES(name, n_words, lower) \
  static scl_status name(const void *self, const scl_const_block *z, int32_t *out, \
                         ptrdiff_t row_stride, scl_error *error) { \
    (void)self, (void)error; \
    for (size_t i = 0; i < z->rows; i++) \
      for (size_t j = 0; j < z->cols; j++) \
        out[(ptrdiff_t)i * row_stride + (ptrdiff_t)(j * (n_words))] = \
            (lower) + \
            (((const double *)z->data)[(ptrdiff_t)i * z->row_stride + (ptrdiff_t)j] > 0); \
    return SCL_STATUS_OK; \
  }

KEY(key_of_sides, 1, 2)
KEY(key_of_two_words, 2, 0)
CODES(codes_right, 1, 0)
CODES(codes_from_1, 1, 1)
CODES(codes_of_one_word, 2, 0) /* the second of two is never written */

const fault faults_of_nonlinearities[] = {FAULT(loop_sine),           FAULT(loop_fast_sine),
                                          FAULT(loop_hinge),          FAULT(loop_square),
                                          FAULT(loop_bell),           FAULT(loop_bell_float32),
                                          FAULT(loop_overflows),      FAULT(loop_softplus),
                                          FAULT(loop_naive_softplus), FAULT(loop_softplus_float32),
                                          FAULT(loop_swallows_nan),   FAULT(loop_tail),
                                          FAULT(loop_aligned),        FAULT(loop_neighbour),
                                          FAULT(loop_not_in_place),   FAULT(loop_reads_past),
                                          FAULT(apply_packed),        FAULT(apply_writes_input),
                                          FAULT(apply_cosine),        FAULT(smooth_packed),
                                          FAULT(smooth_by_variance),  FAULT(dual_of_square),
                                          FAULT(dual_of_thresholds),  FAULT(collision_by_cosine),
                                          FAULT(key_of_sides),        FAULT(key_of_two_words),
                                          FAULT(codes_right),         FAULT(codes_from_1),
                                          FAULT(codes_of_one_word),   {NULL, NULL}};
