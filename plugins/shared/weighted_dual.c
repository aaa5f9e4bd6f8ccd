#include "shared/weighted_dual.h"

#include "shared/mean_diagonal.h"
#include "shared/row_total.h"

void weighted_dual_close(weighted_dual *w) {
  if (w->problem == NULL) return;
  refined_close(&w->system);
  w->problem->host->symmetric->destroy(w->base);
}

/* K + tau 11', tau the mean diagonal of K over n. */
static scl_status weighted_dual_lift(weighted_dual *w, scl_error *error) {
  const scl_host *host = w->problem->host;
  const size_t n = w->problem->rows;
  scl_status status = mean_diagonal(host, w->outer, &w->tau, error);
  if (status == SCL_STATUS_OK) status = host->symmetric->create(n, &w->base, error);
  if (status != SCL_STATUS_OK) return status;
  w->tau /= (double)n;
  host->symmetric->copy(w->outer, w->base);
  for (size_t i = 0; i < n; i++)
    w->diagonal[i] = 1;
  return host->symmetric->rank(w->base, w->tau, w->diagonal, 1, (ptrdiff_t)n, error);
}

scl_status weighted_dual_open(weighted_dual *w, const scl_problem *problem, size_t columns,
                              scl_error *error) {
  const scl_host *host = problem->host;
  const size_t n = problem->rows, sides = columns + (problem->intercept ? 1 : 0);
  const double *targets;
  *w = (weighted_dual){.problem = problem, .columns = columns};
  if (problem->features <= n) return SCL_STATUS_OK;
  scl_status status = problem->dual(problem, &w->outer, &targets, error);
  if (status != SCL_STATUS_OK) w->outer = NULL;
  if (status != SCL_STATUS_OK) return status == SCL_STATUS_UNSUPPORTED ? SCL_STATUS_OK : status;
  w->diagonal = host->scratch((n + (2 * n + 1) * sides) * sizeof *w->diagonal);
  if (w->diagonal == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", n);
  w->right = w->diagonal + n;
  w->x = w->right + n * sides;
  w->sums = w->x + n * sides;
  if (problem->intercept) status = weighted_dual_lift(w, error);
  w->system = (refined_system){.host = host,
                               .base = problem->intercept ? w->base : w->outer,
                               .diagonal = w->diagonal,
                               .least = problem->dtype == SCL_DTYPE_FLOAT32 ? 1e-5 : 1e-12,
                               .order = n,
                               .columns = sides};
  return status == SCL_STATUS_OK ? refined_open(&w->system, error) : status;
}

/* The diagonal ridge/v_i; for a row of weight 0, a value so large that its b_i is 0. */
static void weighted_dual_divide(const weighted_dual *w, const double *weights, double ridge) {
  const size_t n = w->problem->rows;
  double most = ridge;
  w->problem->host->symmetric->diagonal(w->system.base, w->x);
  for (size_t i = 0; i < n; i++)
    most = fmax(most, fmax(w->x[i], weights[i] > 0 ? ridge / weights[i] : 0));
  for (size_t i = 0; i < n; i++)
    w->diagonal[i] = weights[i] > 0 ? ridge / weights[i] : 1e40 * most;
}

scl_status weighted_dual_solve(const weighted_dual *w, const double *weights, double ridge,
                               const double *right, const double *sums, double *b, double *q,
                               refined_account *account, scl_error *error) {
  const size_t n = w->problem->rows, c = w->columns, sides = w->system.columns;
  weighted_dual_divide(w, weights, ridge);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < sides; j++)
      w->right[i * sides + j] = weights[i] == 0 ? 0 : j < c ? right[i * c + j] : 1;
  scl_status status = refined_solve(&w->system, w->right, w->x, account, error);
  for (size_t i = 0; i < n * sides; i++)
    if (weights[i / sides] == 0) w->x[i] = 0;
  if (status == SCL_STATUS_OK && sides > c)
    status = row_total(w->problem, w->x, n, sides, w->sums, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < c; j++) {
    const double wanted = sums == NULL ? 0 : sums[j],
                 by = sides > c ? (w->sums[j] - wanted) / w->sums[c] : 0;
    for (size_t i = 0; i < n; i++)
      b[i * c + j] =
          weights[i] == 0 ? 0 : w->x[i * sides + j] - (sides > c ? by * w->x[i * sides + c] : 0);
    q[j] = by + w->tau * wanted;
  }
  return SCL_STATUS_OK;
}

scl_status weighted_dual_recover(const weighted_dual *w, double *b, double *coefficients,
                                 scl_error *error) {
  const size_t n = w->problem->rows, c = w->columns;
  if (w->problem->intercept) {
    const scl_status status = row_total(w->problem, b, n, c, w->sums, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t i = 0; i < n * c; i++)
      b[i] -= w->sums[i % c] / (double)n;
  }
  return w->problem->adjoint(w->problem, b, c, coefficients, error);
}
