/* The features of the arc-cosine kernels (Cho and Saul 2009, Kernel methods for deep learning):
 *   phi(z) = sqrt2 Theta(z) z^n,   n = order
 *
 * Smoothing, with M_n = E N(m, v^2)_+^n and h = m/v:
 *   S(m, v) = sqrt2 M_n
 *   M_0     = F(h)
 *   M_1     = m F(h) + v f(h)
 *   M_n     = m M_(n-1) + (n - 1) v^2 M_(n-2)
 *
 * Gaussian dual: for means of 0 (s_a s_b)^n k_n(theta), shared/arccos.h; for any means, order 0 by
 * F2 (shared/half_space.h) and order 1 by shared/rectified.h. */
#include "shared/arccos.h"
#include "shared/closed_form.h"
#include "shared/half_space.h"
#include "shared/normal.h"
#include "shared/rectified.h"
#include <stdio.h>

enum { CHUNK = RECTIFIED_CHUNK };

typedef struct arccos {
  scl_base base;
  size_t order;
} arccos;

static const scl_option options[] = {
    SCL_INTEGER(arccos, order, "1",
                "the power n of sqrt2 Theta(z) z^n: 0 step, 1 rectifier, 2 its square, ... 16",
                SCL_WITHIN(0, 16))};

static int order_of(const void *self) { return (int)((const arccos *)self)->order; }

static size_t chunk_at(size_t count, size_t from) {
  return count - from < CHUNK ? count - from : CHUNK;
}

/* ------------ phi */

/* max(0, z)^n by multiplications, a chunk at a time. */
#define LOOP(name, real) \
  static void name(const void *self, size_t count, const real *z, real *out) { \
    const real root = (real)SCL_SQRT2; \
    const int order = order_of(self); \
    real base[CHUNK]; \
    for (size_t from = 0; from < count; from += CHUNK) { \
      const size_t some = chunk_at(count, from); \
      real *to = out + from; \
      for (size_t j = 0; j < some; j++) \
        base[j] = z[from + j] <= 0 ? 0 : z[from + j]; \
      for (size_t j = 0; j < some; j++) \
        to[j] = order > 0 ? root * base[j] : base[j] > 0 ? root : 0; \
      for (int n = 1; n < order; n++) \
        for (size_t j = 0; j < some; j++) \
          to[j] *= base[j]; \
    } \
  }
LOOP(loop, double)
LOOP(loop_float32, float)

static int formula(const void *self, char *text, size_t size) {
  return snprintf(text, size, "z <= 0 ? 0 : SCL_SQRT2 * pow(z, %d)", order_of(self));
}

/* ------------ moments
 *
 * m and v are divided by the larger of them, so that no power overflows on the way. */

/* value scale^order. For m far below 0 the recursion cancels to rounding: the moment itself is 0 to
 * that precision. */
static double truncated_scale(int order, double value, double scale) {
  value = value > 0 ? value : 0;
  for (int n = 0; n < order; n++)
    value *= scale;
  return value;
}

/* M_n from M_0 and M_1. */
static double truncated_moment(int order, double m, double v) {
  const double scale = fmax(fabs(m), v), a = m / scale, b = v / scale, h = m / v;
  double before = normal_cdf(h), now = a * before + b * normal_density(h);
  if (order == 0) return before;
  for (int n = 2; n <= order; n++) {
    const double next = a * now + (n - 1) * b * b * before;
    before = now;
    now = next;
  }
  return truncated_scale(order, now, scale);
}

/* sqrt2 M_n of a chunk. On entry odd = erf(h/sqrt2) and even = exp(-h^2/2); even is overwritten. */
static void truncated_chunk(int order, size_t count, const double *m, const double *v,
                            const double *odd, double *even, double *out) {
  double before[CHUNK];
  for (size_t j = 0; j < count; j++) {
    const double scale = fmax(fabs(m[j]), v[j]);
    before[j] = 0.5 + 0.5 * odd[j];
    even[j] = m[j] / scale * before[j] + v[j] / scale * even[j] / sqrt(2 * SCL_PI);
  }
  for (int n = 2; n <= order; n++)
    for (size_t j = 0; j < count; j++) {
      const double scale = fmax(fabs(m[j]), v[j]), b = v[j] / scale,
                   next = m[j] / scale * even[j] + (n - 1) * b * b * before[j];
      before[j] = even[j];
      even[j] = next;
    }
  for (size_t j = 0; j < count; j++)
    out[j] = truncated_scale(order, SCL_SQRT2 * even[j], fmax(fabs(m[j]), v[j]));
}

/* S(m, v) of the order: the closed forms of the step and the rectifier, the recursion for higher
 * orders. */
static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  const scl_vector_math *math = ((const scl_base *)self)->host->math;
  const int order = order_of(self);
  const double half = sqrt(0.5);
  double odd[CHUNK] = {0}, even[CHUNK] = {0};
  if (order == 0) {
    half_space_smooth(self, count, m, v, out);
    half_space_lift(count, half, out);
    return;
  }
  if (order == 1) {
    rectified_smooth(math, count, m, v, half, half, out);
    return;
  }
  for (size_t from = 0; from < count; from += CHUNK) {
    const size_t some = chunk_at(count, from);
    rectified_parts(math, some, m + from, v + from, odd, even);
    truncated_chunk(order, some, m + from, v + from, odd, even, out + from);
  }
}

/* ------------ the dual */

/* M_n of N(mean, variance), also for variance 0. */
static double moment(int order, double mean, double variance) {
  if (variance > 0) return truncated_moment(order, mean, sqrt(variance));
  return mean > 0 ? pow(mean, order) : 0;
}

/* A product in which 0 times infinity is 0, for powers that overflow. */
static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

/* The closed forms at the top; NaN (not known) for orders from 2 on with means other than 0. */
static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  const int order = order_of(self);
  if (order == 0) return 2 * half_space_both(mean_a, mean_b, var_a, var_b, covariance, false);
  if (order == 1) return 2 * rectified_pair(mean_a, mean_b, var_a, var_b, covariance);
  if (!(var_a > 0) || !(var_b > 0))
    return 2 * times(moment(order, mean_a, var_a), moment(order, mean_b, var_b));
  if (mean_a != 0 || mean_b != 0) return NAN;
  const double size = sqrt(var_a) * sqrt(var_b);
  return times(pow(size, order),
               arccos_kernel(order, normal_correlation(var_a, var_b, covariance)));
}

/* ------------ the plugin */

static const double kink[] = {0};
static const scl_ability_facts facts_of_step = {SCL_HEAD(scl_ability_facts),
                                                .bound = SCL_SQRT2,
                                                .lipschitz = INFINITY,
                                                .breaks = kink,
                                                .n_breaks = 1,
                                                .scale_free = 1};
static const scl_ability_facts facts_of_rectifier = {SCL_HEAD(scl_ability_facts), .bound = INFINITY,
                                                     .lipschitz = SCL_SQRT2, .breaks = kink,
                                                     .n_breaks = 1};
static const scl_ability_facts facts_of_power = {SCL_HEAD(scl_ability_facts), .bound = INFINITY,
                                                 .lipschitz = INFINITY, .breaks = kink,
                                                 .n_breaks = 1};
static const scl_ability_two_valued values_of_step = {SCL_HEAD(scl_ability_two_valued), .low = 0,
                                                      .high = SCL_SQRT2};

static const void *arccos_ability(const void *self, const char *id) {
  const int order = order_of(self);
  if (strcmp(id, SCL_ABILITY_FACTS) == 0)
    return order == 0 ? &facts_of_step : order == 1 ? &facts_of_rectifier : &facts_of_power;
  return order == 0 && strcmp(id, SCL_ABILITY_TWO_VALUED) == 0 ? &values_of_step : NULL;
}

const scl_plugin scullery_plugin = {
    .name = "arccos",
    .summary = "sqrt2 Theta(z) z^order: the arc-cosine kernels",
    .definition = "phi(z) = when(z > 0, sqrt(2)*z^order, 0)",
    .doc = "phi(z) = sqrt2 z^order for z > 0, else 0. One number in, one feature out.\n"
           "On N(0, I) rows it estimates the arc-cosine kernel (1/pi) |x|^n |y|^n J_n(th),\n"
           "n = order, th the angle of x and y (Cho and Saul 2009, equations 1 to 6):\n"
           "  order 0: 1 - th/pi\n"
           "  order 1: (1/pi) |x| |y| (sin th + (pi - th) cos th)\n"
           "  order 2: (1/pi) |x|^2 |y|^2 (3 sin th cos th + (pi - th)(1 + 2 cos^2 th))\n"
           "  any order by recursion. Orders 0 and 1 also with means and biases.\n"
           "In an RKHS weighting it becomes sqrt2 M_n:\n"
           "  M_0 = F(m/v),  M_1 = m F(m/v) + v f(m/v),  M_n = m M_(n-1) + (n-1) v^2 M_(n-2).",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = formula),
    SCL_INSTANCE(arccos, options),
    SCL_ABILITIES(CLOSED_FORM),
    .ability = arccos_ability};
