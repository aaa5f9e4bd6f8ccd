/* The lasso and the elastic net on sparse rows, a target at a time, by coordinate descent
 * (shared/column_descent.c) in place of the D x D sums: down a path of lambdas as in lasso.c, each
 * to a duality gap. Rounds: the slopes of all columns, which give the gap, and passes over those
 * that are not 0 or whose slopes are beyond l1. */
#include "lasso.h"
#include "shared/column_descent.h"
#include "shared/risk.h"

/* One target. */
typedef struct sparse_target {
  const lasso_sparse *self;
  const risk *risk;
  column_descent columns;
  double worth, gap; /* the objective at a = 0; the last gap */
  size_t steps;      /* passes */
} sparse_target;

/* The rests of the target at a, from the rows; the shares are those of the row weights. */
static scl_status sparse_begin(sparse_target *s, const scl_const_csr *x, size_t target,
                               scl_error *error) {
  const risk *r = s->risk;
  column_descent *c = &s->columns;
  for (size_t i = 0; i < x->rows; i++)
    c->rows[i] = (column_row){.share = r->weights[i] / r->total,
                              .rest = r->targets[i * r->columns + target]};
  scl_status status = column_measure(c, 0, error);
  s->worth = column_square(c) / 2;
  for (size_t i = 0; i < x->rows; i++)
    c->rows[i].rest -= csr_dot(x, i, c->a);
  if (status == SCL_STATUS_OK) status = column_measure(c, 0, error);
  return status == SCL_STATUS_OK ? column_slopes(c, error) : status;
}

/* One lambda, to a gap of `tolerance` of the objective at a = 0. */
static scl_status sparse_solve(sparse_target *s, double lambda, double tolerance,
                               scl_error *error) {
  enum { PASSES = 100, IDLE = 8 };
  const lasso_sparse *self = s->self;
  const scl_problem *problem = s->risk->problem;
  column_descent *c = &s->columns;
  const separable penalty = {
      .l1 = lambda * self->l1_ratio, .l2 = lambda * (1 - self->l1_ratio), .bound = INFINITY};
  const double goal = tolerance * s->worth;
  double share = 0.1, least = INFINITY;
  size_t steps = 0;
  c->l1 = penalty.l1;
  c->l2 = penalty.l2;
  for (int idle = 0; idle < IDLE;) {
    scl_status status = column_slopes(c, error);
    if (status != SCL_STATUS_OK) return status;
    s->gap = separable_gap(&penalty, c->x->cols, c->a, c->slope, column_square(c), NULL);
    if (s->gap <= goal || steps >= self->most) break;
    idle = s->gap < 0.9 * least ? 0 : idle + 1;
    if (s->gap > 0.5 * least) share /= 10;
    least = fmin(least, s->gap);
    status = problem->progress(problem, "solving", (double)steps / (double)self->most,
                               column_square(c) / 2, error);
    if (status != SCL_STATUS_OK) return status;
    column_choose(c);
    for (size_t pass = 0; pass < PASSES && steps < self->most; pass++, steps++)
      if (column_pass(c) <= share * fmax(goal, s->gap / 10)) break;
    steps++;
  }
  s->steps += steps;
  return SCL_STATUS_OK;
}

/* Writes the solution of one target. */
static void sparse_keep(const sparse_target *s, size_t target, scl_solution *out) {
  const column_descent *c = &s->columns;
  const size_t targets = s->risk->columns;
  const double relative = s->worth > 0 ? s->gap / s->worth : 0, tolerance = s->self->tolerance;
  for (size_t j = 0; j < c->x->cols; j++)
    out->coefficients[j * targets + target] = c->a[j];
  if (c->constant) out->intercept[target] = c->shift;
  out->iterations = (target == 0 ? 0 : out->iterations) + s->steps;
  out->tolerance = tolerance;
  if (target == 0 || relative > out->gap) out->gap = relative;
  out->outcome = out->gap <= tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT)
    separable_note(out, s->steps < s->self->most
                            ? "rounding allows no smaller one: give a larger lambda or tolerance"
                            : "give more max_iterations");
}

/* All lambdas of a target, which descend; the path begins at the smallest one that leaves all
 * coefficients 0. */
static scl_status sparse_path(sparse_target *s, const scl_const_csr *x, size_t target,
                              const double *lambdas, size_t count, scl_solution *const *out,
                              scl_error *error) {
  const lasso_sparse *self = s->self;
  double largest = 0;
  scl_status status = sparse_begin(s, x, target, error);
  for (size_t j = 0; j < x->cols; j++)
    largest = fmax(largest, fabs(s->columns.slope[j]));
  const bool warm = s->risk->problem->warm != 0;
  double lambda = self->l1_ratio > 0 && !warm ? largest / self->l1_ratio : 0;
  for (lambda *= self->ratio; status == SCL_STATUS_OK && lambda > lambdas[0]; lambda *= self->ratio)
    status = sparse_solve(s, lambda, self->rough, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    s->steps = 0;
    status = sparse_solve(s, lambdas[k], self->tolerance, error);
    if (status == SCL_STATUS_OK) sparse_keep(s, target, out[k]);
  }
  return status;
}

scl_status lasso_sparse_path(const lasso_sparse *self, const scl_problem *problem,
                             const double *lambdas, size_t count, scl_solution *const *out,
                             scl_error *error) {
  const size_t d = problem->features, targets = problem->targets;
  scl_const_csr x;
  csc_columns columns;
  risk r;
  scl_status status = risk_open(&r, problem, NULL, 0, error);
  sparse_target s = {.self = self, .risk = &r};
  if (status == SCL_STATUS_OK && !(r.total > 0))
    status = problem->host->fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
  if (status == SCL_STATUS_OK) status = csr_read(problem, &x, error);
  if (status == SCL_STATUS_OK) status = csc_of(problem->host, &x, &columns, error);
  if (status == SCL_STATUS_OK) status = column_open(&s.columns, problem->host, &columns, error);
  s.columns.constant = problem->intercept != 0;
  for (size_t target = 0; status == SCL_STATUS_OK && target < targets; target++) {
    for (size_t j = 0; j < d; j++)
      s.columns.a[j] = problem->warm ? out[0]->coefficients[j * targets + target] : 0;
    status = sparse_path(&s, &x, target, lambdas, count, out, error);
  }
  return status;
}
