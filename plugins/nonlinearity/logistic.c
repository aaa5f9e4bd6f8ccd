/* The logistic sigmoid:
 *   phi(z) = 1/(1 + exp(-z))
 *
 * There is no closed form under a Gaussian law: the host smooths by quadrature, and the Gaussian
 * dual is a quadrature too (shared/sigmoid.h). The nearest poles are +-i pi. */
#include "shared/sigmoid.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = -z[j];
  ((const scl_base *)self)->host->math->exp(count, out, out);
  for (size_t j = 0; j < count; j++)
    out[j] = 1 / (1 + out[j]);
}

static void loop_float32(const void *self, size_t count, const float *z, float *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = -z[j];
  ((const scl_base *)self)->host->math->expf(count, out, out);
  for (size_t j = 0; j < count; j++)
    out[j] = 1 / (1 + out[j]);
}

static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  const sigmoid g = {.base = self, .loop = loop, .pole = SCL_PI};
  return sigmoid_dual(&g, mean_a, mean_b, var_a, var_b, covariance);
}

const scl_plugin scullery_plugin = {
    .name = "logistic",
    .summary = "1/(1 + exp(-z)), the logistic sigmoid",
    .doc =
        "phi(z) = 1/(1 + exp(-z)). One number in, one feature out.\n"
        "On Gaussian rows its kernel E phi(a) phi(b) is computed by quadrature in two variables,\n"
        "to 1e-10, for standard deviations of <w, x> up to 40; near 1 it takes some microseconds\n"
        "a pair.\n"
        "In an RKHS weighting its expectation is computed by quadrature.",
    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop, .loop_float32 = loop_float32),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = dual),
                  SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = 0.25))};
