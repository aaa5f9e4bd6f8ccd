/* The additive chi-square kernel, x_j, y_j >= 0:
 *
 *   K(x, y) = sum_j 2 x_j y_j/(x_j + y_j)
 *
 * a term being 0 where both are 0 (Vedaldi and Zisserman 2012, Efficient additive kernels via
 * explicit feature maps). */
#include "shared/column_kernel.h"

static double argument(const void *self, double x) {
  (void)self;
  return x;
}

/* out_j += 2 x y_j/(x + y_j), as low (high/mean): symmetric in x and y to the bit, and no
 * intermediate product overflows or underflows. */
static void gather(double x, size_t count, const double *y, double *out) {
  for (size_t j = 0; j < count; j++) {
    const double low = x < y[j] ? x : y[j], high = x < y[j] ? y[j] : x;
    const double mean = 0.5 * low + 0.5 * high;
    out[j] += low * (high / (mean > 0 ? mean : 1));
  }
}

COLUMN_FORM(0)

const scl_plugin scullery_plugin = {
    .name = "chi_square",
    .summary = "sum_j 2 x_j y_j/(x_j + y_j), for rows of numbers of at least 0",
    .doc =
        "K(x, y) = sum_j 2 x_j y_j/(x_j + y_j), x_j, y_j >= 0 (histograms, counts, frequencies);\n"
        "a term is 0 where both are 0. Dense rows only, positive semidefinite.\n"
        "sc.nonlinearity.chi_square{} on sc.sampler.columns{} approximates it (Vedaldi and\n"
        "Zisserman 2012, Efficient additive kernels via explicit feature maps).",
    COLUMN_KERNEL,
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_DOMAIN, scl_ability_domain, .high = INFINITY))};
