/* Its probabilities do not sum to 1. */
// caught by: loss fail
// says: sum to
#include "solver.h"

static double value(const void *self, size_t c, const double *f, const double *y) {
  double sum = 0;
  (void)self;
  for (size_t j = 0; j < c; j++)
    sum += (f[j] - y[j]) * (f[j] - y[j]);
  return sum;
}

static void slope(const void *self, size_t c, const double *f, const double *y, double *out) {
  (void)self;
  for (size_t j = 0; j < c; j++)
    out[j] = 2 * (f[j] - y[j]);
}

static double bound(const void *self, double reach) {
  (void)self;
  return (reach + 1) * (reach + 1);
}

static double lipschitz(const void *self, double reach) {
  (void)self;
  return 2 * (reach + 1);
}

static int32_t probabilities(const void *self, size_t c, const double *f, double *out) {
  (void)self;
  for (size_t j = 0; j < c; j++)
    out[j] = 1 / (1 + exp(-f[j]));
  if (c == 1) out[1] = out[0];
  if (c == 1) out[0] = 1 - out[1];
  return 1;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options,
              SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LOSS, scl_ability_loss, .value = value,
                                      .slope = slope, .bound = bound, .lipschitz = lipschitz,
                                      .probabilities = probabilities)),
              .solve = ridge_solve);
