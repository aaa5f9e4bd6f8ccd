/* phi(z) = |z|.
 *
 * Smoothing: v sqrt(2/pi) exp(-m^2/(2 v^2)) + m erf(m/(sqrt2 v)). Gaussian dual: |a| |b| is the sum
 * of a_+ b_+ over the four signs. */
#include "shared/rectified.h"

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = fabs(z[j]);
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = fabsf(z[j]);
}

static void smooth(const pointwise *self, size_t count, const double *m, const double *v,
                   double *out) {
  rectified_smooth(self, count, m, v, 1, 0, out);
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
  return rectified_pair(mean_a, mean_b, var_a, var_b, covariance) +
         rectified_pair(-mean_a, -mean_b, var_a, var_b, covariance) +
         rectified_pair(mean_a, -mean_b, var_a, var_b, -covariance) +
         rectified_pair(-mean_a, mean_b, var_a, var_b, -covariance);
}

#include "shared/pointwise_abilities.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "abs",
    "1.0",
    "The Scullery authors",
    "|z|, the absolute value",
    "phi(z) = |z|. One scalar in, one feature out.\n"
    "On N(0, I) rows it estimates (2/pi) |x| |y| (sqrt(1 - r^2) + r asin r), r the cosine of x and "
    "y; with means and\n"
    "biases closed too, by the bivariate normal distribution function.\n"
    "In an RKHS weighting it becomes v sqrt(2/pi) exp(-m^2/(2 v^2)) + m erf(m/(sqrt2 v)).",
    NULL,
    0,
    &pointwise_table,
    create,
    pointwise_destroy,
    ability};
