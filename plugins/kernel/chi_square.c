/* The additive chi-square kernel, x_j, y_j >= 0:
 *
 *   K(x, y) = sum_j 2 x_j y_j/(x_j + y_j)
 *
 * a term being 0 where both are 0 (Vedaldi and Zisserman 2012, Efficient additive kernels via
 * explicit feature maps). */
#include "shared/column_kernel.h"

/* 2 x y/(x + y), as low (high/mean): symmetric in x and y to the bit, and no intermediate product
 * overflows or underflows. */
static double term(double x, double y) {
  const double low = x < y ? x : y, high = x < y ? y : x, mean = 0.5 * low + 0.5 * high;
  return low * (high / (mean > 0 ? mean : 1));
}

static double argument(const void *self, double x) {
  (void)self;
  return x;
}

static void gather(double x, size_t count, const double *y, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] += term(x, y[j]);
}

static void terms(const void *self, double x, size_t count, const double *y, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = term(x, y[j]);
}

COLUMN_FORM(0)

const scl_plugin scullery_plugin = {
    .name = "chi_square",
    .summary = "sum_j 2 x_j y_j/(x_j + y_j), for rows of numbers of at least 0",
    .definition = "K(u, v) = sum(u, function(x, j) return when(x > 0, 2*x*v[j]/(x + v[j]), 0) end)",
    .doc =
        "K(x, y) = sum_j 2 x_j y_j/(x_j + y_j), x_j, y_j >= 0 (histograms, counts, frequencies);\n"
        "a term is 0 where both are 0. Dense rows only, positive semidefinite.\n"
        "sc.nonlinearity.chi_square{} on sc.sampler.columns{} approximates it (Vedaldi and\n"
        "Zisserman 2012, Efficient additive kernels via explicit feature maps).",
    SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = gram, .diagonal = diagonal,
               .terms = terms),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_DOMAIN, scl_ability_domain, .high = INFINITY))};
