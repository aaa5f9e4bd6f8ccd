/* Newton's method of huber where there are more features than rows: a = Phi'C u, u one number a
 * row, so that a step costs an n x n system and no pass over the features. With s the slopes of the
 * loss over N and g = s + lambda u (the gradient in a is Phi'C g while sum s = 0), the direction p,
 * q solves, with V the weights of the rows that count,
 *
 *   (K p)_i + (N lambda/v_i) p_i + q = -N g_i/v_i,   p_i = -g_i/lambda where v_i = 0,
 *   1'(u + p) = 0 with an intercept
 *
 * (shared/weighted_dual.h, where K and C are told). Without lambda a small one takes its place in
 * the direction, not in the gradient. */
#include "huber.h"
#include "shared/mean_diagonal.h"
#include "shared/refined_solve.h"
#include "shared/row_total.h"

bool huber_dual_fits(const huber_dual *d) { return d->system.outer != NULL; }

scl_status huber_dual_open(huber_dual *d, const scl_problem *problem, scl_error *error) {
  const size_t n = problem->rows;
  double unit = 0;
  *d = (huber_dual){.u = NULL};
  scl_status status = weighted_dual_open(&d->system, problem, 1, error);
  if (status != SCL_STATUS_OK || !huber_dual_fits(d)) return status;
  status = mean_diagonal(problem->host, d->system.outer, &unit, error);
  d->least = 1e-12 * unit;
  if (status != SCL_STATUS_OK) return status;
  d->u = problem->host->scratch(6 * n * sizeof *d->u);
  if (d->u == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", n);
  d->direction = d->u + n;
  d->gradient = d->direction + n;
  d->image = d->gradient + n;
  d->right = d->image + n;
  d->taken = d->right + n;
  return SCL_STATUS_OK;
}

void huber_dual_reset(huber_dual *d) {
  memset(d->u, 0, d->system.problem->rows * sizeof *d->u);
  memset(d->taken, 0, d->system.problem->rows * sizeof *d->u);
}

scl_status huber_dual_take(huber_dual *d, double *a, double *change, scl_error *error) {
  const scl_problem *problem = d->system.problem;
  for (size_t i = 0; i < problem->rows; i++)
    d->right[i] = d->u[i] - d->taken[i];
  memcpy(d->taken, d->u, problem->rows * sizeof *d->u);
  const scl_status status = weighted_dual_recover(&d->system, d->right, change, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < problem->features; j++)
    a[j] += change[j];
  return status;
}

static scl_status huber_dual_multiply(const huber_dual *d, const double *x, double *out,
                                      scl_error *error) {
  return d->system.problem->host->symmetric->multiply(d->system.outer, x, 1, out, error);
}

scl_status huber_dual_differentiate(huber_dual *d, const risk *r, double b, const double *scores,
                                    double *value, double *norm, scl_error *error) {
  const size_t n = r->problem->rows;
  double slope_sum = 0, penalty = 0, square = 0;
  scl_status status = risk_slopes(r, 0, n, scores, error);
  if (status == SCL_STATUS_OK) status = risk_sums(r, value, &slope_sum, error);
  for (size_t i = 0; i < n; i++) {
    d->gradient[i] = r->slopes[i] + r->lambda * d->u[i];
    r->losses[i] = d->u[i] * (scores[i] - b);
  }
  if (status == SCL_STATUS_OK) status = row_total(r->problem, r->losses, n, 1, &penalty, error);
  if (status == SCL_STATUS_OK) status = huber_dual_multiply(d, d->gradient, d->image, error);
  for (size_t i = 0; i < n; i++)
    r->losses[i] = d->gradient[i] * d->image[i];
  if (status == SCL_STATUS_OK) status = row_total(r->problem, r->losses, n, 1, &square, error);
  *value += r->lambda / 2 * penalty;
  *norm = sqrt(fmax(square, 0) + slope_sum * slope_sum);
  return status;
}

scl_status huber_dual_direct(huber_dual *d, const risk *r, const double *weights, double *by,
                             double *change, scl_error *error) {
  const size_t n = r->problem->rows;
  const double ridge = fmax(r->total * r->lambda, d->least);
  double sum = 0;
  refined_account account = {0};
  for (size_t i = 0; i < n; i++) {
    d->direction[i] = weights[i] > 0 ? 0 : -r->total * d->gradient[i] / ridge;
    d->right[i] = -d->u[i] - d->direction[i];
  }
  scl_status status = row_total(r->problem, d->right, n, 1, &sum, error);
  if (status == SCL_STATUS_OK) status = huber_dual_multiply(d, d->direction, d->image, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n; i++)
    d->right[i] = weights[i] > 0 ? -r->total * d->gradient[i] / weights[i] - d->image[i] : 0;
  status = weighted_dual_solve(&d->system, weights, ridge, d->right, &sum, d->image, by, &account,
                               error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n; i++)
    d->direction[i] += d->image[i];
  status = huber_dual_multiply(d, d->direction, change, error);
  for (size_t i = 0; i < n; i++)
    change[i] += *by;
  return status;
}

scl_status huber_dual_line(const huber_dual *d, const risk *r, double b, double by,
                           const double *scores, const double *change, risk_line *line,
                           scl_error *error) {
  const size_t n = r->problem->rows;
  const double *along[] = {d->u, d->u, d->direction};
  double sums[3] = {0};
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; k < 3 && status == SCL_STATUS_OK; k++) {
    for (size_t i = 0; i < n; i++)
      r->losses[i] = along[k][i] * (k == 0 ? scores[i] - b : change[i] - by);
    status = row_total(r->problem, r->losses, n, 1, &sums[k], error);
  }
  *line = (risk_line){.risk = r,
                      .scores = scores,
                      .change = change,
                      .value = r->lambda / 2 * sums[0],
                      .slope = r->lambda * sums[1],
                      .bend = r->lambda * sums[2]};
  return status;
}
