/* The logistic sigmoid:
 *   phi(z) = 1/(1 + exp(-z))
 *
 * There is no closed form under a Gaussian law: the host smooths by quadrature, and the Gaussian
 * dual is a quadrature too (shared/sigmoid.h). The nearest poles are +-i pi. */
#include "shared/sigmoid.h"

#define LOOP(name, real, exponential) \
  static void name(const void *self, size_t count, const real *z, real *out) { \
    for (size_t j = 0; j < count; j++) \
      out[j] = -z[j]; \
    ((const scl_base *)self)->host->math->exponential(count, out, out); \
    for (size_t j = 0; j < count; j++) \
      out[j] = 1 / (1 + out[j]); \
  }
LOOP(loop, double, exp)
LOOP(loop_float32, float, expf)
SCL_FORMULA(loop_formula, "1 / (1 + exp(-z))")
SIGMOID_DUAL(SCL_PI)

const scl_plugin scullery_plugin = {
    .name = "logistic",
    .summary = "1/(1 + exp(-z)), the logistic sigmoid",
    .definition = "phi(z) = 1/(1 + exp(-z))",
    .doc =
        "phi(z) = 1/(1 + exp(-z)). One number in, one feature out.\n"
        "On Gaussian rows its kernel E phi(a) phi(b) is computed by quadrature in two variables,\n"
        "to 1e-10, for standard deviations of <w, x> up to 40; near 1 it takes some microseconds\n"
        "per pair.\n"
        "In an RKHS weighting its expectation is computed by quadrature.",
    SIGMOID(0.25)};
