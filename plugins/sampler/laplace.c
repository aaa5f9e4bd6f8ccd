/* Laplace rows: w in R^d with independent coordinates of density exp(-|w|/s)/(2 s).
 *
 * From four normal numbers, e = n_1 n_2 + n_3 n_4 has this law for s = 1: products and sums alone,
 * the same bits on every machine. Fourier features estimate, with delta = x - y,
 *   k(x, y) = prod_j 1/(1 + s^2 delta_j^2)
 * (Rahimi and Recht 2007, Random features for large-scale kernel machines, figure 1). */
#include "shared/scaled_rows.h"

static const scl_option options[] = {SCALED_ROWS_OPTIONS(
    "scale", "s in the density exp(-|w|/s)/(2 s) of each weight; its standard deviation is sqrt2 s",
    SCL_POSITIVE)};

static void make(const void *instance, size_t count, const double *normal, double *e) {
  (void)instance;
  for (size_t j = 0; j < count; j++, normal += 4)
    e[j] = normal[0] * normal[1] + normal[2] * normal[3];
}

static double factor(const void *instance, double z) {
  (void)instance;
  return 1 / (1 + z * z);
}

const scl_plugin scullery_plugin = {
    .name = "laplace",
    .summary = "Rows of Laplace numbers, density exp(-|w|/scale)/(2 scale)",
    .definition =
        "n(t, j, k, r) = r.normal(0, t, 4*j - 4 + k)\n"
        "draw(t, r) = map(range(r.dim), function(j)\n"
        "  return scale*(n(t, j, 0, r)*n(t, j, 1, r) + n(t, j, 2, r)*n(t, j, 3, r)) end)\n"
        "characteristic(x) = 1/product(x, function(t) return 1 + (scale*t)^2 end)\n"
        "density(w) = exp(-abs(w)/scale)",
    .doc = "Draws w_t with independent w_j of density exp(-|w|/scale)/(2 scale); z = <w, x> + b.\n"
           "With nonlinearity.fourier the features estimate prod_j 1/(1 + scale^2 d_j^2), "
           "d = x - y,\n"
           "the Cauchy kernel (Rahimi and Recht 2007).",
    SCALED_ROWS(4, SCL_FAMILY_LAPLACE)};
