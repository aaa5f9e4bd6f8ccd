/* phi(z) = exp(z). Smoothing: exp(m + v^2/2). Gaussian dual: exp((v_a + v_b + 2c)/2 + m_a +
 * m_b). */
#include "shared/pointwise.h"

#include <math.h>

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  self->math->exp(count, z, out);
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  self->math->expf(count, z, out);
}

static void smooth(const pointwise *self, size_t count, const double *m, const double *v,
                   double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = m[j] + v[j] * v[j] / 2;
  self->math->exp(count, out, out);
}

static const pointwise_loops loops = {apply_f64, apply_f32, smooth, NULL};

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  (void)values;
  return pointwise_create(host, &loops, 0, instance, error);
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out = (scl_facts){.bound = INFINITY, .lipschitz = INFINITY};
}

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  (void)instance;
  return exp((var_a + var_b + 2 * covariance) / 2 + mean_a + mean_b);
}

#include "shared/pointwise_abilities.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "exp",
    "1.0",
    "The Scullery authors",
    "exp(z), the exponential",
    "phi(z) = exp(z). One scalar in, one feature out; grows fast: keep <w, x> moderate, in float32 "
    "below 88.\n"
    "On N(0, S) rows with a bias b it estimates exp((x+y)'S(x+y)/2) E exp(2b).\n"
    "In an RKHS weighting it becomes exp(m + v^2/2).",
    NULL,
    0,
    &pointwise_table,
    create,
    pointwise_destroy,
    ability};
