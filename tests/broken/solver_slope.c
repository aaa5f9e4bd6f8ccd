/* The slope of its loss lacks the factor 2. */
// caught by: loss fail
// says: the slope at
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
    out[j] = f[j] - y[j];
}

static double bound(const void *self, double reach) {
  (void)self;
  return (reach + 1) * (reach + 1);
}

static double lipschitz(const void *self, double reach) {
  (void)self;
  return 2 * (reach + 1);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options,
              SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LOSS, scl_ability_loss, .value = value,
                                      .slope = slope, .bound = bound, .lipschitz = lipschitz)),
              .solve = ridge_solve);
