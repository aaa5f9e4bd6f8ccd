/* phi(z) = Theta(z): 1 for z > 0, else 0; Theta(0) = 0.
 *
 * Smoothing: F(m/v). Gaussian dual: P(a > 0, b > 0) = F2(h, k; r), for means of 0 (1 - theta/pi)/2:
 * half of arccos{order = 0}, which is sqrt2 Theta. */
#include "shared/half_space.h"

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? 1 : 0;
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? 1.0f : 0.0f;
}

static void smooth(const pointwise *self, size_t count, const double *m, const double *v,
                   double *out) {
  half_space_smooth(self, count, m, v, out);
  half_space_turn(count, 0.5, 0.5, out);
}

static void smooth_f32(const pointwise *self, size_t count, const float *m, const float *v,
                       float *out) {
  half_space_smooth_f32(self, count, m, v, out);
  half_space_turn_f32(count, 0.5f, 0.5f, out);
}

static const pointwise_loops loops = {apply_f64, apply_f32, smooth, smooth_f32};

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  (void)values;
  return pointwise_create(host, &loops, 0, instance, error);
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out =
      (scl_facts){.bound = 1, .lipschitz = INFINITY, .breaks = {0}, .n_breaks = 1, .scale_free = 1};
}

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  (void)instance;
  return half_space_both(mean_a, mean_b, var_a, var_b, covariance, 0);
}

/* E 1[t < a] 1[t < b] */
static double threshold_dual(const void *instance, double distribution_a, double distribution_b) {
  (void)instance;
  return fmin(distribution_a, distribution_b);
}

enum { at_zero = 0 }; /* the side that 0 is on */
#include "shared/half_space_abilities.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "step",
    "1.0",
    "The Scullery authors",
    "1 where z > 0, else 0",
    "phi(z) = Theta(z) in {0, 1}, Theta(0) = 0. One scalar in, one feature out.\n"
    "On Gaussian rows it estimates (1 - theta/pi)/2, theta the angle of x and y; with means, P(a > "
    "0, b > 0) by the\n"
    "bivariate normal distribution function. arccos{order = 0} is sqrt2 times it: the arc-cosine "
    "kernel of order 0.\n"
    "On thresholds: min(P(t < x_i), P(t < y_i)), averaged over the columns. As codes: P(same code) "
    "= 1 - theta/pi.\n"
    "In an RKHS weighting it becomes F(m/v), F the normal distribution function.",
    NULL,
    0,
    &pointwise_table,
    create,
    pointwise_destroy,
    ability};
