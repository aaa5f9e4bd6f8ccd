/* Cauchy rows: w in R^d with independent coordinates of density gamma/(pi (gamma^2 + w^2)), the
 * spectrum of the Laplacian kernel: Fourier features estimate
 *   k(x, y) = exp(-gamma ||x - y||_1)
 * (Rahimi and Recht 2007, Random features for large-scale kernel machines, figure 1).
 *
 * The ratio of two normal numbers has this law for gamma = 1: one division, the same bits on every
 * machine. */
#include "shared/scaled_rows.h"

static const scl_option options[] = {
    SCALED_ROWS_OPTIONS("gamma", "the rate in exp(-gamma ||x-y||_1), the scale of each weight",
                        SCL_ABOVE(0, 1e250), .width = SCL_WIDTH_RATE)};

/* The denominator is 0 for one uniform number in 2^53 alone. */
static void make(const void *instance, size_t count, const double *normal, double *e) {
  (void)instance;
  for (size_t j = 0; j < count; j++, normal += 2)
    e[j] = normal[1] == 0 ? normal[0] * 0x1p53 : normal[0] / normal[1];
}

static double factor(const void *instance, double z) {
  (void)instance;
  return exp(-fabs(z));
}

const scl_plugin scullery_plugin = {
    .name = "cauchy",
    .summary = "Cauchy rows, the spectrum of the Laplacian kernel exp(-gamma ||x-y||_1)",
    .definition = "draw(t, r) = map(range(r.dim), function(j)\n"
                  "  return gamma*r.normal(0, t, 2*j - 2)/r.normal(0, t, 2*j - 1) end)\n"
                  "characteristic(x) = exp(-gamma*sum(x, abs))\n"
                  "density(w) = 1/(1 + (w/gamma)^2)",
    .doc = "Draws w_t with independent Cauchy w_j of scale gamma; z = <w, x> + b.\n"
           "Their moments do not exist.\n"
           "With nonlinearity.fourier the features estimate exp(-gamma ||x-y||_1)\n"
           "(Rahimi and Recht 2007).",
    SCALED_ROWS(2, SCL_FAMILY_CAUCHY)};
