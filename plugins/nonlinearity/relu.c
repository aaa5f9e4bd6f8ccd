/* phi(z) = max(0, z): the rectifier.
 *
 * Smoothing: m F(m/v) + v f(m/v). Gaussian dual: shared/rectified.h; for means of 0, half the
 * arc-cosine kernel of order 1 (Cho and Saul 2009). */
#include "shared/rectified.h"

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? z[j] : 0;
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? z[j] : 0;
}

/* E max(0, N(m, v^2)) = m F(h) + v f(h), h = m/v. */
static void smooth(const pointwise *self, size_t count, const double *m, const double *v,
                   double *out) {
  rectified_smooth(self, count, m, v, 0.5, 0.5, out);
}

static const pointwise_loops loops = {apply_f64, apply_f32, smooth, NULL};

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  (void)values;
  return pointwise_create(host, &loops, 0, instance, error);
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out = (scl_facts){.bound = INFINITY, .lipschitz = 1, .breaks = {0}, .n_breaks = 1};
}

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  (void)instance;
  return rectified_pair(mean_a, mean_b, var_a, var_b, covariance);
}

#include "shared/pointwise_abilities.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "relu",
    "1.0",
    "The Scullery authors",
    "max(0, z), the rectifier",
    "phi(z) = max(0, z). One scalar in, one feature out.\n"
    "On N(0, I) rows it estimates (1/2pi) |x| |y| (sin th + (pi - th) cos th), th the angle of x "
    "and y: half of the\n"
    "arc-cosine kernel of order 1 (Cho and Saul 2009); arccos{order = 1} is sqrt2 max(0, z) and "
    "estimates all of it.\n"
    "With means and biases: closed too, by the bivariate normal distribution function.\n"
    "In an RKHS weighting it becomes m F(m/v) + v f(m/v), F and f the normal distribution function "
    "and density.",
    NULL,
    0,
    &pointwise_table,
    create,
    pointwise_destroy,
    ability};
