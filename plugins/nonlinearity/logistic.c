/* phi(z) = 1/(1 + exp(-z)). No closed form under a Gaussian: the host's quadrature smooths it, and
 * the Gaussian dual is a quadrature too; its poles are at +-i pi. */
#include "shared/sigmoid.h"

#include <math.h>

static void apply_f64(const pointwise *self, size_t count, const double *z, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = -z[j];
  self->math->exp(count, out, out);
  for (size_t j = 0; j < count; j++)
    out[j] = 1 / (1 + out[j]);
}

static void apply_f32(const pointwise *self, size_t count, const float *z, float *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = -z[j];
  self->math->expf(count, out, out);
  for (size_t j = 0; j < count; j++)
    out[j] = 1 / (1 + out[j]);
}

static const pointwise_loops loops = {apply_f64, apply_f32, NULL, NULL};

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  (void)values;
  return pointwise_create(host, &loops, 0, instance, error);
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out = (scl_facts){.bound = 1, .lipschitz = 0.25};
}

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  return sigmoid_dual(instance, NORMAL_PI, mean_a, mean_b, var_a, var_b, covariance);
}

static const scl_ability_facts facts_table = {SCL_HEAD(scl_ability_facts), facts};
static const scl_ability_gaussian_dual gaussian_table = {SCL_HEAD(scl_ability_gaussian_dual),
                                                         gaussian_dual};

static const void *ability(const void *instance, const char *id) {
  static const ability_entry list[] = {{SCL_ABILITY_FACTS, &facts_table},
                                       {SCL_ABILITY_GAUSSIAN_DUAL, &gaussian_table},
                                       {NULL, NULL}};
  (void)instance;
  return ability_find(list, id);
}

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "logistic",
    "1.0",
    "The Scullery authors",
    "1/(1 + exp(-z)), the logistic sigmoid",
    "phi(z) = 1/(1 + exp(-z)). One scalar in, one feature out.\n"
    "On Gaussian rows its kernel E phi(a) phi(b) is by quadrature in two variables, to 1e-10, for "
    "deviations of <w, x> up to 40;\n"
    "some microseconds a pair where they are near 1.\n"
    "In an RKHS weighting its expectation is by quadrature.",
    NULL,
    0,
    &pointwise_table,
    create,
    pointwise_destroy,
    ability};
