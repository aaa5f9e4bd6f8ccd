/* phi(z) = exp(-z^2/2). */
#include <scullery/plugin.h>

static void bump(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = exp(-z[j] * z[j] / 2);
}

static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++) {
    const double wide = 1 + v[j] * v[j];
    out[j] = exp(-m[j] * m[j] / (2 * wide)) / sqrt(wide);
  }
}

const scl_plugin scullery_plugin = {
    .name = "bump",
    .version = "1.0",
    .summary = "a bump",
    .doc = "phi(z) = exp(-z^2/2)",
    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = bump),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = smooth))};
