/* The squared hinge, max(0, 1 - y f)^2/2, which is smooth: by L-BFGS on dense rows, a class at a
 * time, and by Newton's method on sparse rows, all classes together (shared/csr_newton.h). The gap
 * is that of the dual point that the slopes at the best constant give: ||g||^2/(2 lambda), g the
 * gradient in a. */
#include "hinge.h"
#include "shared/csr_newton.h"
#include "shared/lbfgs.h"
#include "shared/row_total.h"

#include <float.h>
#include <stdio.h>

/* The gap of l->x relative to the objective, at the best constant, to which x is moved. */
static scl_status squared_gap(lbfgs *l, const risk *one, double *gap, scl_error *error) {
  const size_t d = one->problem->features;
  double move = 0;
  scl_status status = SCL_STATUS_OK;
  if (one->intercept)
    status = risk_best_constant(one, l->scores, l->trial_scores, 0.1, &move, error);
  if (one->intercept) l->x[d] += move;
  for (size_t i = 0; i < one->scores; i++)
    l->scores[i] += move;
  if (status == SCL_STATUS_OK)
    status = risk_from_scores(one, l->x, l->scores, &l->value, l->gradient, l->slope_sum, error);
  const double bound = risk_dot(d, l->gradient, l->gradient) / (2 * one->lambda);
  *gap = bound > 0 ? bound / l->value : 0;
  return status;
}

scl_status hinge_only_side(const risk *all, size_t class, double *room, double *side,
                           scl_error *error) {
  const size_t n = all->problem->rows;
  double positive = 0;
  for (size_t i = 0; i < n; i++)
    room[i] = all->targets[i * all->columns + class] > 0 ? all->weights[i] : 0;
  const scl_status status = row_total(all->problem, room, n, 1, &positive, error);
  *side = positive <= DBL_EPSILON * all->total         ? -1
          : positive >= (1 - DBL_EPSILON) * all->total ? 1
                                                       : 0;
  return status;
}

/* One class, to a gradient that becomes less until the gap is small enough. */
static scl_status squared_column(lbfgs *l, const risk *one, double tolerance, size_t most,
                                 double *gap, size_t *iterations, scl_error *error) {
  scl_solution account = {.head = SCL_HEAD(scl_solution)};
  scl_status status = SCL_STATUS_OK;
  memset(l->x, 0, one->size * sizeof *l->x);
  *gap = INFINITY;
  for (double share = 1e-2; share > 1e-12 && *gap > tolerance; share /= 10) {
    if (*iterations >= most) break;
    l->pairs = l->next = 0;
    memcpy(l->trial, l->x, one->size * sizeof *l->x);
    memset(l->x, 0, one->size * sizeof *l->x);
    status = lbfgs_minimise(l, l->trial, one->size, 0, share, most - *iterations, &account, error);
    *iterations += account.iterations;
    if (status == SCL_STATUS_OK) status = squared_gap(l, one, gap, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

static scl_status squared_dense(const risk *all, double tolerance, size_t most, scl_solution *out,
                                scl_error *error) {
  const scl_problem *problem = all->problem;
  const size_t n = problem->rows, c = all->columns, d = problem->features;
  risk one = *all;
  lbfgs l;
  one.columns = 1;
  one.scores = n;
  one.size = d + (size_t)one.intercept;
  one.targets = problem->host->scratch((n + 1) * sizeof *one.targets);
  if (one.targets == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", n);
  scl_status status = lbfgs_open(&l, &one, error);
  out->gap = 0;
  out->iterations = 0;
  for (size_t j = 0; j < c && status == SCL_STATUS_OK; j++) {
    double gap, side = 0;
    size_t iterations = 0;
    if (one.intercept) status = hinge_only_side(all, j, one.targets, &side, error);
    if (status != SCL_STATUS_OK) return status;
    if (side != 0) {
      for (size_t k = 0; k < d; k++)
        out->coefficients[k * c + j] = 0;
      out->intercept[j] = side;
      continue;
    }
    for (size_t i = 0; i < n; i++)
      one.targets[i] = all->targets[i * c + j];
    status = squared_column(&l, &one, tolerance, most, &gap, &iterations, error);
    if (status != SCL_STATUS_OK) return status;
    out->gap = fmax(out->gap, gap);
    out->iterations = iterations > out->iterations ? iterations : out->iterations;
    for (size_t k = 0; k < d; k++)
      out->coefficients[k * c + j] = l.x[k];
    if (one.intercept) out->intercept[j] = l.x[d];
  }
  out->tolerance = tolerance;
  out->outcome = out->gap <= tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  return status;
}

scl_status hinge_squared_path(const hinge_squared *self, const double *lambdas, size_t count,
                              scl_solution *const *out, scl_error *error) {
  risk *r = self->risk;
  scl_status status = SCL_STATUS_OK;
  if (csr_is(r->problem)) {
    const csr_newton_task task = {
        .risk = r, .by_gap = true, .tolerance = self->tolerance, .most = self->most};
    status = csr_newton_path(&task, lambdas, count, out, error);
  }
  for (size_t k = 0; k < count && status == SCL_STATUS_OK && !csr_is(r->problem); k++) {
    r->lambda = lambdas[k];
    status = squared_dense(r, self->tolerance, self->most, out[k], error);
  }
  for (size_t k = 0; k < count && status == SCL_STATUS_OK; k++)
    if (out[k]->outcome == SCL_OUTCOME_LIMIT) hinge_note_limit(out[k], self->tolerance);
  return status;
}
