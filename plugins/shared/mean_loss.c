/* The mean loss of a solution, for the objectives of lasso, box and the solvers of
 * shared/risk.h. */
#include "shared/mean_loss.h"

#include "shared/row_total.h"

/* Weighted mean of the losses at scores f. f (n x c) and weights are overwritten; both sums are
 * exact (row_total). */
static scl_status mean_of_rows(const scl_problem *problem, double *f, const double *y,
                               double *weights, const double *intercept, const loss_choice *choice,
                               double *value, scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  double total;
  scl_status status = row_total(problem, weights, n, 1, &total, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; intercept != NULL && k < c; k++)
      f[i * c + k] += intercept[k];
    weights[i] *= loss_row(choice, c, f + i * c, y + i * c, NULL);
  }
  status = row_total(problem, weights, n, 1, value, error);
  *value /= total;
  return status;
}

scl_status mean_loss(const scl_problem *problem, const loss_choice *choice,
                     const double *coefficients, const double *intercept, double *value,
                     scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  double *f = problem->host->scratch(n * (2 * c + 1) * sizeof *f);
  if (f == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for the scores of %zu rows", n);
  double *y = f + n * c, *weights = y + n * c;
  scl_status status = problem->responses(problem, y, weights, error);
  if (status == SCL_STATUS_OK) status = problem->product(problem, coefficients, c, f, error);
  if (status == SCL_STATUS_OK)
    status = mean_of_rows(problem, f, y, weights, intercept, choice, value, error);
  return status;
}
