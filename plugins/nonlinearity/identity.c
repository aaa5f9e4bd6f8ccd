/* phi(z) = z. Smoothing: m. Gaussian dual: m_a m_b + covariance, the linear kernel. */
#include "shared/pointwise.h"

#include <math.h>

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

static void smooth(const pointwise *self, size_t count, const double *m, const double *v,
                   double *out) {
  (void)v;
  apply_f64(self, count, m, out);
}

static void smooth_f32(const pointwise *self, size_t count, const float *m, const float *v,
                       float *out) {
  (void)v;
  apply_f32(self, count, m, out);
}

static const pointwise_loops loops = {apply_f64, apply_f32, smooth, smooth_f32};

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  (void)values;
  return pointwise_create(host, &loops, 0, instance, error);
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out = (scl_facts){.bound = INFINITY, .lipschitz = 1};
}

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  (void)instance;
  (void)var_a;
  (void)var_b;
  return mean_a * mean_b + covariance;
}

#include "shared/pointwise_abilities.h"

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_KIND_NONLINEARITY,
                                    "identity",
                                    "1.0",
                                    "The Scullery authors",
                                    "z itself: random projections",
                                    "phi(z) = z. One scalar in, one feature out.\n"
                                    "On rows of covariance S it estimates the linear kernel x'Sy "
                                    "(random projections, Johnson and Lindenstrauss 1984).\n"
                                    "In an RKHS weighting it becomes m.",
                                    NULL,
                                    0,
                                    &pointwise_table,
                                    create,
                                    pointwise_destroy,
                                    ability};
