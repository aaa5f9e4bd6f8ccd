/* phi(z) = sqrt2 Theta(z) z^order: the features of the arc-cosine kernels (Cho and Saul 2009).
 *
 * Gaussian dual, means of 0: (s_a s_b)^order k_order(theta), shared/arccos.h; any means: order 0 by
 * F2, order 1 by shared/rectified.h. Smoothing: sqrt2 M_n, M_n = E N(m, v^2)_+^n:  M_0 = F(h), M_1
 * = m F(h) + v f(h), M_n = m M_(n-1) + (n - 1) v^2 M_(n-2), h = m/v. */
#include "shared/arccos.h"
#include "shared/half_space.h"
#include "shared/rectified.h"

enum { ORDER, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"order", SCL_FORM_INTEGER, NULL, "1", 0, 16, 0, SCL_WIDTH_NONE,
     "the power n of sqrt2 Theta(z) z^n: 0 step, 1 rectifier, 2 its square, ... 16"},
};

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  double base[POINTWISE_CHUNK];
  for (size_t j = 0; j < count; j += POINTWISE_CHUNK) {
    const size_t here = count - j < POINTWISE_CHUNK ? count - j : POINTWISE_CHUNK;
    for (size_t k = 0; k < here; k++)
      base[k] = z[j + k] > 0 ? z[j + k] : 0;
    for (size_t k = 0; k < here; k++)
      out[j + k] = self->order == 0 ? (base[k] > 0 ? sqrt(2) : 0) : sqrt(2) * base[k];
    for (int n = 1; n < self->order; n++)
      for (size_t k = 0; k < here; k++)
        out[j + k] *= base[k];
  }
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  const float root = 1.41421356f;
  float base[POINTWISE_CHUNK];
  for (size_t j = 0; j < count; j += POINTWISE_CHUNK) {
    const size_t here = count - j < POINTWISE_CHUNK ? count - j : POINTWISE_CHUNK;
    for (size_t k = 0; k < here; k++)
      base[k] = z[j + k] > 0 ? z[j + k] : 0;
    for (size_t k = 0; k < here; k++)
      out[j + k] = self->order == 0 ? (base[k] > 0 ? root : 0) : root * base[k];
    for (int n = 1; n < self->order; n++)
      for (size_t k = 0; k < here; k++)
        out[j + k] *= base[k];
  }
}

/* value scale^order. For m far below 0 the recursion cancels to rounding: the moment itself is 0 to
 * that precision. */
static double truncated_scale(int order, double value, double scale) {
  value = value > 0 ? value : 0;
  for (int n = 0; n < order; n++)
    value *= scale;
  return value;
}

/* M_n from M_0 and M_1, m and v divided by the larger of them so that no power overflows before its
 * time. */
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

/* The same over a chunk: even and odd come as exp(-h^2/2) and erf(h/sqrt2). */
static void moments(int order, size_t count, const double *m, const double *v, const double *odd,
                    double *even, double *out) {
  double before[POINTWISE_CHUNK];
  for (size_t j = 0; j < count; j++) {
    const double scale = fmax(fabs(m[j]), v[j]);
    before[j] = 0.5 + 0.5 * odd[j];
    even[j] = m[j] / scale * before[j] + v[j] / scale * even[j] / sqrt(2 * NORMAL_PI);
  }
  for (int n = 2; n <= order; n++)
    for (size_t j = 0; j < count; j++) {
      const double scale = fmax(fabs(m[j]), v[j]), b = v[j] / scale,
                   next = m[j] / scale * even[j] + (n - 1) * b * b * before[j];
      before[j] = even[j];
      even[j] = next;
    }
  for (size_t j = 0; j < count; j++)
    out[j] = truncated_scale(order, sqrt(2) * even[j], fmax(fabs(m[j]), v[j]));
}

static void smooth(const pointwise *self, size_t count, const double *m, const double *v,
                   double *out) {
  if (self->order == 0) {
    half_space_smooth(self, count, m, v, out);
    half_space_turn(count, sqrt(0.5), sqrt(0.5), out);
    return;
  }
  if (self->order == 1) {
    rectified_smooth(self, count, m, v, sqrt(0.5), sqrt(0.5), out);
    return;
  }
  double odd[POINTWISE_CHUNK] = {0}, even[POINTWISE_CHUNK] = {0};
  rectified_parts(self, count, m, v, odd, even);
  moments(self->order, count, m, v, odd, even, out);
}

static const pointwise_loops loops = {apply_f64, apply_f32, smooth, NULL};

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  return pointwise_create(host, &loops, (int)values[ORDER].number, instance, error);
}

static void facts(const void *instance, scl_facts *out) {
  const pointwise *self = instance;
  *out = (scl_facts){.bound = self->order == 0 ? sqrt(2) : INFINITY,
                     .lipschitz = self->order == 1 ? sqrt(2) : INFINITY,
                     .breaks = {0},
                     .n_breaks = 1,
                     .scale_free = self->order == 0};
}

static double moment(int order, double mean, double variance) {
  if (variance > 0) return truncated_moment(order, mean, sqrt(variance));
  return mean > 0 ? pow(mean, order) : 0;
}

/* Nothing stays nothing beside an overflow. */
static double times(double a, double b) {
  return a == 0 || b == 0 ? 0 : a * b;
}

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  const pointwise *self = instance;
  if (self->order == 0) return 2 * half_space_both(mean_a, mean_b, var_a, var_b, covariance, 0);
  if (self->order == 1) return 2 * rectified_pair(mean_a, mean_b, var_a, var_b, covariance);
  if (!(var_a > 0) || !(var_b > 0))
    return 2 * times(moment(self->order, mean_a, var_a), moment(self->order, mean_b, var_b));
  if (mean_a != 0 || mean_b != 0) return NAN;
  const double size = sqrt(var_a) * sqrt(var_b);
  return times(pow(size, self->order),
               arccos_kernel(self->order, normal_correlation(var_a, var_b, covariance)));
}

#include "shared/pointwise_abilities.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "arccos",
    "1.0",
    "The Scullery authors",
    "sqrt2 Theta(z) z^order: the arc-cosine kernels",
    "phi(z) = sqrt2 z^order for z > 0, else 0. One scalar in, one feature out.\n"
    "On N(0, I) rows it estimates the arc-cosine kernel (1/pi) |x|^n |y|^n J_n(th), th the angle "
    "of x and y:\n"
    "  order 0: 1 - th/pi;  order 1: (1/pi) |x| |y| (sin th + (pi - th) cos th);\n"
    "  order 2: (1/pi) |x|^2 |y|^2 (3 sin th cos th + (pi - th)(1 + 2 cos^2 th));  any order by "
    "recursion.\n"
    "(Cho and Saul 2009, equations 1 to 6.) Orders 0 and 1 also with means and biases.\n"
    "In an RKHS weighting: sqrt2 M_n, M_0 = F(m/v), M_1 = m F(m/v) + v f(m/v), M_n = m M_(n-1) + "
    "(n-1) v^2 M_(n-2).",
    options,
    OPTIONS,
    &pointwise_table,
    create,
    pointwise_destroy,
    ability};
