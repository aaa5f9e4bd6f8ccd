/* The skewed chi-square kernel, x_j, y_j > -c (Li, Ionescu and Sminchisescu 2010, Random Fourier
 * approximations for skewed multiplicative histogram kernels):
 *
 *   K(x, y) = prod_j 2 sqrt(x_j + c) sqrt(y_j + c)/(x_j + y_j + 2 c)
 *           = prod_j 2 s_j t_j/(s_j^2 + t_j^2),   s_j = sqrt(x_j + c), t_j = sqrt(y_j + c)
 *
 * No factor is above 1, so the product of the first ones is at least K: it underflows where K
 * itself does, and never overflows. */
#include "shared/skewed_chi_square.h"
#include "shared/column_kernel.h"

/* s = sqrt(x + c) */
static double argument(const void *self, double x) { return sqrt(x + ((const skewed *)self)->c); }

static void gather(double s, size_t count, const double *t, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] *= 2 * s * t[j] / (s * s + t[j] * t[j]);
}

COLUMN_FORM(1)

const scl_plugin scullery_plugin = {
    .name = "skewed_chi_square",
    .summary = "prod_j 2 sqrt(x_j + c) sqrt(y_j + c)/(x_j + y_j + 2 c), for rows above -c",
    .definition = "k(x, y) = 2*sqrt(x*y)/(x + y)\n"
                  "K(u, v) = product(u, function(x, j) return k(x + c, v[j] + c) end)",
    .doc = "K(x, y) = prod_j 2 sqrt(x_j + c) sqrt(y_j + c)/(x_j + y_j + 2 c), x_j, y_j > -c.\n"
           "Dense rows only, positive definite, K(x, x) = 1; a function of log(x_j + c) - log(y_j "
           "+ c)\n"
           "(Li, Ionescu and Sminchisescu 2010, Random Fourier approximations for skewed\n"
           "multiplicative histogram kernels).",
    COLUMN_KERNEL,
    SCL_INSTANCE(skewed, options),
    SCL_ABILITIES(SKEWED_DOMAIN)};
