/* phi(z) = sin(z). Smoothing: exp(-v^2/2) sin m. Gaussian dual: by sin a sin b = (cos(a - b) -
 * cos(a + b))/2. */
#include "shared/pointwise.h"

#include <math.h>

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  self->math->sin(count, z, out);
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  self->math->sinf(count, z, out);
}

static void smooth(const pointwise *self, size_t count, const double *m, const double *v,
                   double *out) {
  double damp[POINTWISE_CHUNK] = {0};
  for (size_t j = 0; j < count; j++)
    damp[j] = -v[j] * v[j] / 2;
  self->math->exp(count, damp, damp);
  self->math->sin(count, m, out);
  for (size_t j = 0; j < count; j++)
    out[j] *= damp[j];
}

static const pointwise_loops loops = {apply_f64, apply_f32, smooth, NULL};

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  (void)values;
  return pointwise_create(host, &loops, 0, instance, error);
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out = (scl_facts){.bound = 1, .lipschitz = 1};
}

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  (void)instance;
  const double difference = exp(-(var_a + var_b - 2 * covariance) / 2) * cos(mean_a - mean_b);
  const double sum = exp(-(var_a + var_b + 2 * covariance) / 2) * cos(mean_a + mean_b);
  return (difference - sum) / 2;
}

static const scl_ability_facts facts_table = {SCL_HEAD(scl_ability_facts), facts};
static const scl_ability_gaussian_dual gaussian_table = {SCL_HEAD(scl_ability_gaussian_dual),
                                                         gaussian_dual};

static const void *ability(const void *instance, const char *id) {
  static const ability_entry list[] = {{SCL_ABILITY_SMOOTHING, &pointwise_smoothing},
                                       {SCL_ABILITY_FACTS, &facts_table},
                                       {SCL_ABILITY_GAUSSIAN_DUAL, &gaussian_table},
                                       {NULL, NULL}};
  (void)instance;
  return ability_find(list, id);
}

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "sin",
    "1.0",
    "The Scullery authors",
    "sin(z)",
    "phi(z) = sin(z). One scalar in, one feature out.\n"
    "On N(0, S) rows it estimates exp(-(x'Sx + y'Sy)/2) sinh(x'Sy).\n"
    "In an RKHS weighting it becomes exp(-v^2/2) sin m. For Fourier features take "
    "nonlinearity.fourier.",
    NULL,
    0,
    &pointwise_table,
    create,
    pointwise_destroy,
    ability};
