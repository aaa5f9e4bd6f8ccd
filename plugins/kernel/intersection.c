/* The histogram intersection kernel, x_j, y_j >= 0:
 *
 *   K(x, y) = sum_j min(x_j, y_j)
 *
 * (Swain and Ballard 1991; positive semidefinite: Maji, Berg and Malik 2013, Efficient classification
 * for additive kernel SVMs). */
#include "shared/column_kernel.h"

static void terms(const void *self, double x, size_t count, const double *y, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = x < y[j] ? x : y[j];
}

COLUMN_SLOTS(column_minima)

const scl_plugin scullery_plugin = {
    .name = "intersection",
    .summary = "sum_j min(x_j, y_j), for rows of numbers of at least 0",
    .definition = "K(u, v) = sum(u, function(x, j) return min(x, v[j]) end)",
    .doc = "K(x, y) = sum_j min(x_j, y_j), x_j, y_j >= 0 (histograms, counts, frequencies): the\n"
           "histogram intersection. Dense rows and sparse ones, which cost the numbers that they\n"
           "have in common; positive semidefinite (Maji, Berg and Malik 2013). Features of it:\n"
           "sc.features{ p = sc.sampler.landmarks(), phi = sc.kernel.intersection() }.",
    SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = gram, .diagonal = diagonal,
               .terms = terms),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_DOMAIN, scl_ability_domain, .high = INFINITY))};
