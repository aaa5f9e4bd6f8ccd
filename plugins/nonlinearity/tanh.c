/* The hyperbolic tangent:
 *   phi(z) = tanh(z)
 *
 * There is no closed form under a Gaussian law: the host smooths by quadrature, and the Gaussian
 * dual is a quadrature too (shared/sigmoid.h). The nearest poles are +-i pi/2. */
#include "shared/sigmoid.h"

SCL_LOOPS_OF(tanh)
SIGMOID_DUAL(SCL_PI / 2)

const scl_plugin scullery_plugin = {
    .name = "tanh",
    .summary = "tanh(z), the hyperbolic tangent",
    .definition = "phi(z) = tanh(z)",
    .doc =
        "phi(z) = tanh(z) = 2 logistic(2 z) - 1. One number in, one feature out.\n"
        "On Gaussian rows its kernel E phi(a) phi(b) is computed by quadrature in two variables,\n"
        "to 1e-10, for standard deviations of <w, x> up to 20; near 1 it takes some microseconds\n"
        "per pair.\n"
        "In an RKHS weighting its expectation is computed by quadrature.",
    SIGMOID(1)};
