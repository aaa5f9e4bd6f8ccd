/* The right twin of the nonlinearities here: a rectifier with a slope below 0. */
#include "base.h"

typedef struct leaky {
  scl_base base;
  double slope;
  int32_t side;
} leaky;

static const scl_option options[] = {
    SCL_NUMBER(leaky, slope, "0.25", "slope of the flat side", SCL_WITHIN(0, 1)),
    SCL_WORD(leaky, side, "left|right", "left", "the side that is flat")};

static void loop(const void *instance, size_t count, const double *z, double *out) {
  const leaky *self = instance;
  const double left = self->side == 0 ? self->slope : 1, right = self->side == 0 ? 1 : self->slope;
  for (size_t j = 0; j < count; j++)
    out[j] = (z[j] > 0 ? right : left) * z[j];
}

static void loop_float32(const void *instance, size_t count, const float *z, float *out) {
  const leaky *self = instance;
  const float slope = (float)self->slope;
  const float left = self->side == 0 ? slope : 1, right = self->side == 0 ? 1 : slope;
  for (size_t j = 0; j < count; j++)
    out[j] = (z[j] > 0 ? right : left) * z[j];
}

/* E N 1{N > 0} of N(m, v^2) */
static double upper(double m, double v) {
  const double r = m / v;
  return m * erfc(-r / SCL_SQRT2) / 2 + v * exp(-r * r / 2) / sqrt(2 * SCL_PI);
}

static void smooth(const void *instance, size_t count, const double *m, const double *v,
                   double *out) {
  const leaky *self = instance;
  const double left = self->side == 0 ? self->slope : 1, right = self->side == 0 ? 1 : self->slope;
  for (size_t j = 0; j < count; j++)
    out[j] = right * upper(m[j], v[j]) - left * upper(-m[j], v[j]);
}

const scl_plugin scullery_plugin = {
    .name = "broken",
    .summary = "max(0, z) with a slope below 0",
    .doc = "phi(z) = z for z > 0, slope z otherwise; with side = \"right\" the other way round.",
    .version = "1.0",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS),
    SCL_INSTANCE(leaky, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = smooth),
                  SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = INFINITY, .lipschitz = 1,
                            .breaks = (const double[]){0}, .n_breaks = 1))};
