/* A sampler whose columns have few numbers that are not 0, so that some may have them alike. */
#include "base.h"

typedef struct rare {
  scl_base base;
  double sigma;
} rare;

static const scl_option options[] = {
    SCL_NUMBER(rare, sigma, "1", "standard deviation of a weight", SCL_POSITIVE)};

static void make(const void *instance, size_t count, const double *uniform, double *e) {
  (void)instance;
  for (size_t j = 0; j < count; j++)
    e[j] = uniform[j] < 0.01 ? -SCL_SQRT2 * 5 : uniform[j] < 0.02 ? SCL_SQRT2 * 5 : 0;
}

static void moments(const void *instance, double *mean, double *scale) {
  *mean = 0;
  *scale = ((const rare *)instance)->sigma;
}

static double factor(const void *instance, double z) {
  (void)instance;
  return 0.98 + 0.02 * cos(SCL_SQRT2 * 5 * z);
}

const scl_plugin scullery_plugin = {
    .name = "broken",
    .summary = "Rows of few numbers",
    .doc = "w_j = 0 with probability 0.98, else +-5 sqrt(2) sigma.",
    .version = "1.0",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = make, .moments = moments, .factor = factor),
    SCL_INSTANCE(rare, options)};
