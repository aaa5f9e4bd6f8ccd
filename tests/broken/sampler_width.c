/* Draws 2 % too wide for its characteristic function. */
// caught by: characteristic fail
// says: sigma = 0.3
#include <scullery/plugin.h>

typedef struct logistic {
  scl_base base;
  double sigma;
} logistic;

static const scl_option options[] = {
    SCL_NUMBER(logistic, sigma, "1", "standard deviation", SCL_POSITIVE)};

static void make(const void *self, size_t count, const double *u, double *e) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    e[j] = 0.562 * log(u[j] / (1 - u[j])); /* sqrt3/pi = 0.5513 */
}
static void moments(const void *self, double *mean, double *scale) {
  (void)mean;
  *scale = ((const logistic *)self)->sigma;
}
static double factor(const void *self, double z) {
  (void)self;
  return fabs(z) < 1e-4 ? 1 - z * z / 2 : 1.7320508075688772 * z / sinh(1.7320508075688772 * z);
}

const scl_plugin scullery_plugin = {
    .name = "broken",
    .summary = "A sampler that is wrong",
    .doc = "Logistic numbers, but for what is wrong.",
    .version = "1.0",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = make, .moments = moments, .factor = factor),
    SCL_INSTANCE(logistic, options)};
