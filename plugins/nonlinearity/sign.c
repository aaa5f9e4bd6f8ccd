/* phi(z) = sign(z), with sign(0) = +1.
 *
 * Smoothing: E sign(N(m, v^2)) = erf(m / (sqrt2 v)). Gaussian dual: 2 P(same side) - 1, which is
 * (2/pi) asin(correlation) for means of 0, so sign(<w,x>) estimates 1 - 2 theta/pi. As codes
 * (SimHash, Charikar 2002): collision 1 - theta/pi. */
#include "shared/half_space.h"

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] < 0 ? -1 : 1;
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] < 0 ? -1.0f : 1.0f;
}

static const pointwise_loops loops = {apply_f64, apply_f32, half_space_smooth,
                                      half_space_smooth_f32};

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
  return 2 * half_space_same(mean_a, mean_b, var_a, var_b, covariance, 1) - 1;
}

/* E sign(a - t) sign(b - t) = 1 - 2 P(t between a and b) */
static double threshold_dual(const void *instance, double distribution_a, double distribution_b) {
  (void)instance;
  return 1 - 2 * fabs(distribution_a - distribution_b);
}

enum { at_zero = 1 }; /* the side that 0 is on */
#include "shared/half_space_abilities.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "sign",
    "1.0",
    "The Scullery authors",
    "sign(z), sign(0) = +1: stumps on thresholds, half-spaces on dense weights",
    "phi(z) = sign(z), with sign(0) = +1 so that no feature vanishes by accident. One scalar in, "
    "one feature out.\n"
    "On Gaussian rows it estimates 1 - 2 theta/pi, theta the angle of x and y (with means: by the "
    "bivariate normal\n"
    "distribution function). As codes, 1 bit a parameter: P(same code) = 1 - theta/pi (Charikar "
    "2002).\n"
    "On thresholds, the stump kernel: t ~ U[-a, a]: 1 - |x-y|_1/(a d) for rows in [-a, a]^d. "
    "Rahimi and Recht (2008,\n"
    "uniform approximation) print it without the 1/d, which the uniform draw of the column "
    "brings.\n"
    "In an RKHS weighting it becomes erf(m/(sqrt2 v)) (Dube and Marchand 2023, both "
    "instantiations).",
    NULL,
    0,
    &pointwise_table,
    create,
    pointwise_destroy,
    ability};
