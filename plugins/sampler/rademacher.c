/* Rademacher rows: w in R^d with independent coordinates, w_j = +-sigma with probability 1/2 each.
 *
 * Fourier features of these rows estimate, with delta = x - y,
 *   k(x, y) = prod_j cos(sigma delta_j). */
#include "shared/scaled_rows.h"

static const scl_option options[] = {
    SCALED_ROWS_OPTIONS("sigma", "size of each weight, which is its standard deviation",
                        SCL_POSITIVE, .width = SCL_WIDTH_FREQUENCY)};

static void make(const void *instance, size_t count, const double *uniform, double *e) {
  (void)instance;
  for (size_t j = 0; j < count; j++)
    e[j] = uniform[j] < 0.5 ? -1 : 1;
}

static double factor(const void *instance, double z) {
  (void)instance;
  return cos(z);
}

const scl_plugin scullery_plugin = {
    .name = "rademacher",
    .summary = "Rows of random signs: w_j = +-sigma",
    .definition = "draw(t, r) = map(range(r.dim), function(j)\n"
                  "  return sigma*when(r.uniform(0, t, j - 1) < 1/2, -1, 1) end)\n"
                  "characteristic(x) = product(x, function(t) return cos(sigma*t) end)\n"
                  "probability(w) = when(abs(w) == sigma, 1/2, 0)",
    .doc = "Draws w_t with independent w_j = +-sigma, each sign with probability 1/2; "
           "z = <w, x> + b.\n"
           "With nonlinearity.fourier the features estimate prod_j cos(sigma d_j), d = x - y.",
    SCALED_ROWS(0, SCL_FAMILY_RADEMACHER)};
