#include "shared/mean_loss.h"

/* f is n x c and spoilt. */
static double mean_of_rows(const scl_problem *problem, double *f, const double *y,
                           const double *weights, const double *intercept,
                           const loss_choice *choice) {
  const size_t c = problem->targets;
  double sum = 0, total = 0;
  for (size_t i = 0; i < problem->rows; i++) {
    for (size_t k = 0; intercept != NULL && k < c; k++)
      f[i * c + k] += intercept[k];
    sum += weights[i] * loss_row(choice, c, f + i * c, y + i * c, NULL);
    total += weights[i];
  }
  return sum / total;
}

scl_status mean_loss(const scl_problem *problem, const loss_choice *choice,
                     const double *coefficients, const double *intercept, double *value,
                     scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  double *f = problem->host->allocate(n * (2 * c + 1) * sizeof *f);
  if (f == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for the scores of %zu rows", n);
  double *y = f + n * c, *weights = y + n * c;
  scl_status status = problem->responses(problem, y, weights, error);
  if (status == SCL_STATUS_OK) status = problem->product(problem, coefficients, c, f, error);
  if (status == SCL_STATUS_OK) *value = mean_of_rows(problem, f, y, weights, intercept, choice);
  problem->host->release(f);
  return status;
}
