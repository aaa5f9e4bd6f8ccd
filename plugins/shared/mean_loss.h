/* The mean over rows of a loss at scores Phi a + b, for SCL_ABILITY_OBJECTIVE, and the squared loss
 * for SCL_ABILITY_LOSS. */
#ifndef SCULLERY_MEAN_LOSS_H
#define SCULLERY_MEAN_LOSS_H

#include <math.h>
#include <scullery/plugin.h>

/* Of a row with c scores f and targets y; context is the caller's. */
typedef double (*row_loss)(const void *context, size_t c, const double *f, const double *y);

/* sum of weights times loss over sum of weights; f is n x c and spoilt */
static inline double mean_of_rows(const scl_problem *problem, double *f, const double *y,
                                  const double *weights, const double *intercept, row_loss loss,
                                  const void *context) {
  const size_t c = problem->targets;
  double sum = 0, total = 0;
  for (size_t i = 0; i < problem->rows; i++) {
    for (size_t k = 0; intercept != NULL && k < c; k++)
      f[i * c + k] += intercept[k];
    sum += weights[i] * loss(context, c, f + i * c, y + i * c);
    total += weights[i];
  }
  return sum / total;
}

static inline scl_status mean_loss(const scl_problem *problem, const double *coefficients,
                                   const double *intercept, row_loss loss, const void *context,
                                   double *value, scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  double *f = problem->host->allocate(n * (2 * c + 1) * sizeof *f);
  if (f == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for the scores of %zu rows", n);
  double *y = f + n * c, *weights = y + n * c;
  scl_status status = problem->responses(problem, y, weights, error);
  if (status == SCL_STATUS_OK) status = problem->product(problem, coefficients, c, f, error);
  if (status == SCL_STATUS_OK)
    *value = mean_of_rows(problem, f, y, weights, intercept, loss, context);
  problem->host->release(f);
  return status;
}

/* ---------------------------------------------------------------- (f - y)^2, summed over targets;
 * |y| <= 1 for the bounds */

static inline double squared_value(const void *context, size_t c, const double *f,
                                   const double *y) {
  double sum = 0;
  (void)context;
  for (size_t k = 0; k < c; k++)
    sum += (f[k] - y[k]) * (f[k] - y[k]);
  return sum;
}

static inline void squared_slope(size_t c, const double *f, const double *y, double *out) {
  for (size_t k = 0; k < c; k++)
    out[k] = 2 * (f[k] - y[k]);
}

static inline double squared_bound(double reach) {
  return (reach + 1) * (reach + 1);
}

static inline double squared_lipschitz(double reach) {
  return 2 * (reach + 1);
}

#endif
