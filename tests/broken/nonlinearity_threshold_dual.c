/* The dual of sign over thresholds without its factor 2: E = 1 - 2 |F(a) - F(b)|. */
// caught by: threshold-dual fail
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] >= 0 ? 1 : -1;
}

static double dual(const void *self, double distribution_a, double distribution_b) {
  (void)self;
  return 1 - fabs(distribution_a - distribution_b);
}

static const scl_ability_threshold_dual threshold = {SCL_HEAD(scl_ability_threshold_dual), dual};
static const scl_ability abilities[] = {{SCL_ABILITY_THRESHOLD_DUAL, &threshold}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
