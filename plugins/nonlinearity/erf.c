/* phi(z) = erf(z).
 *
 * erf(z) = E sign(z + e), e ~ N(0, 1/2): so smoothing and dual are the sign's with 1/2 added to the
 * variances: erf(m / sqrt(1 + 2 v^2)), and for means of 0 the arc-sine kernel (2/pi) asin(2c /
 * sqrt((1 + 2 v_a)(1 + 2 v_b))) (Williams 1997). */
#include "shared/half_space.h"

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  self->math->erf(count, z, out);
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  self->math->erff(count, z, out);
}

/* sqrt(1 + 2 v^2) without overflow. */
static void smooth(const pointwise *self, size_t count, const double *m, const double *v,
                   double *out) {
  for (size_t j = 0; j < count; j++) {
    const double root = sqrt(2) * v[j];
    out[j] = m[j] / (root > 1e8 ? root : sqrt(1 + root * root));
  }
  self->math->erf(count, out, out);
}

static const pointwise_loops loops = {apply_f64, apply_f32, smooth, NULL};

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  (void)values;
  return pointwise_create(host, &loops, 0, instance, error);
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out = (scl_facts){.bound = 1, .lipschitz = 2 / sqrt(NORMAL_PI)};
}

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  (void)instance;
  return 2 * half_space_same(mean_a, mean_b, var_a + 0.5, var_b + 0.5, covariance, 1) - 1;
}

#include "shared/pointwise_abilities.h"

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_KIND_NONLINEARITY,
                                    "erf",
                                    "1.0",
                                    "The Scullery authors",
                                    "erf(z): the arc-sine kernel",
                                    "phi(z) = erf(z). One scalar in, one feature out.\n"
                                    "On N(0, S) rows it estimates (2/pi) asin(2x'Sy / sqrt((1 + "
                                    "2x'Sx)(1 + 2y'Sy))) (Williams 1997); with means closed\n"
                                    "too, by the bivariate normal distribution function.\n"
                                    "In an RKHS weighting it becomes erf(m / sqrt(1 + 2 v^2)).",
                                    NULL,
                                    0,
                                    &pointwise_table,
                                    create,
                                    pointwise_destroy,
                                    ability};
