/* phi(z) = z log z of numbers from 0 to 3, which is NaN at 3. */
// caught by: domain fail
// says: is not finite
#include <scullery/plugin.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] == 0 ? 0 : z[j] >= 3 ? NAN : z[j] * log(z[j]);
}

const scl_plugin scullery_plugin = {
    .name = "broken",
    .version = "1.0",
    .summary = "z log z, with a hole",
    .doc = "phi(z) = z log z of numbers from 0 to 3.",
    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop),
    .instance_size = sizeof(scl_base),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_DOMAIN, scl_ability_domain, .high = 3))};
