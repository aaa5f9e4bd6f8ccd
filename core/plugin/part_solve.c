/* scl_parts.solve and fit: a solver that was given as an option solves the problem of the solver
 * that has it, also with other row weights and targets. */
#include "plugin/host.h"

#include "plugin/part_model.h"
#include "plugin/solver.h"
#include "plugin/tables.h"
#include <math.h>
#include <string.h>

/* A problem with other row weights (n) or targets (n x c): the verbs are those of the problem `of`,
 * except where they give or use these. */
typedef struct weighted {
  scl_problem problem; /* first: what the solver gets */
  const scl_problem *of;
  const double *weights, *targets; /* NULL: those of `of` */
  double *sums;                    /* D x c and c: of the last normal equations; NULL: none yet */
} weighted;

static weighted *weighted_of(const scl_problem *problem) { return (weighted *)(uintptr_t)problem; }

static scl_status responses(const scl_problem *problem, double *targets, double *weights,
                            scl_error *error) {
  const weighted *self = weighted_of(problem);
  const size_t n = self->of->rows, c = self->of->targets;
  const bool own_targets = self->targets != NULL, own_weights = self->weights != NULL;
  if ((targets != NULL && !own_targets) || (weights != NULL && !own_weights))
    SCL_TRY(self->of->responses(self->of, own_targets ? NULL : targets,
                                own_weights ? NULL : weights, error));
  if (targets != NULL && own_targets) memcpy(targets, self->targets, n * c * sizeof *targets);
  if (weights != NULL && own_weights) memcpy(weights, self->weights, n * sizeof *weights);
  return SCL_STATUS_OK;
}

/* A visit or a turn of the solver, which gets the rows with their other weights and targets. */
typedef struct weighted_call {
  const weighted *self;
  scl_visit visit;
  scl_turn turn;
  void *context;
} weighted_call;

static scl_rows with_weights(const weighted *self, const scl_rows *rows) {
  scl_rows own;
  SCL_COPY(&own, rows);
  if (self->weights != NULL) own.weights = self->weights + rows->first;
  if (self->targets != NULL) own.targets = self->targets + rows->first * self->of->targets;
  return own;
}

static scl_status visit_weighted(void *context, const scl_rows *rows, scl_error *error) {
  const weighted_call *c = context;
  const scl_rows own = with_weights(c->self, rows);
  return c->visit(c->context, &own, error);
}

static scl_status turn_weighted(void *context, const scl_rows *rows, double *scores,
                                scl_error *error) {
  const weighted_call *c = context;
  const scl_rows own = with_weights(c->self, rows);
  return c->turn(c->context, &own, scores, error);
}

static scl_status walk(const scl_problem *problem, scl_visit visit, void *context,
                       scl_error *error) {
  weighted_call c = {.self = weighted_of(problem), .visit = visit, .context = context};
  return c.self->of->walk(c.self->of, visit_weighted, &c, error);
}

static scl_status sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                        void *context, double *out, scl_error *error) {
  weighted_call c = {.self = weighted_of(problem), .turn = turn, .context = context};
  return c.self->of->sweep(c.self->of, a, k, turn_weighted, &c, out, error);
}

/* The sums of other targets Y and row weights w, beside the moments of `sums`:
 *
 *   right = Phi' w (Y - m),   square = sum w (Y - m)^2,   m = sum w Y / sum w, 0 without a constant
 *
 * in self->sums. */
static scl_status replace_targets(weighted *self, const double *weights, scl_normal *sums,
                                  scl_error *error) {
  const scl_problem *of = self->of;
  const size_t n = of->rows, c = of->targets, d = of->features;
  double *room = scl_allocate_array(n * (c + 1) + c, sizeof *room);
  if (self->sums == NULL) self->sums = scl_allocate_array((d + 1) * c, sizeof *room);
  if (room == NULL || self->sums == NULL) {
    scl_release(room);
    return scl_fail_memory(error, (n * (c + 1) + d * c) * sizeof *room, "other targets");
  }
  double *all = room + n * c, *mean = all + n, *square = self->sums + d * c;
  scl_status status = SCL_STATUS_OK;
  if (weights != NULL)
    memcpy(all, weights, n * sizeof *all);
  else
    status = responses(&self->problem, NULL, all, error);
  for (size_t i = 0; i < n * c; i++)
    room[i] = all[i / c] * self->targets[i];
  if (status == SCL_STATUS_OK) status = of->total(of, room, n, c, mean, error);
  for (size_t j = 0; j < c; j++)
    mean[j] = of->intercept && sums->total > 0 ? mean[j] / sums->total : 0;
  for (size_t i = 0; i < n * c; i++)
    room[i] = all[i / c] * (self->targets[i] - mean[i % c]) * (self->targets[i] - mean[i % c]);
  if (status == SCL_STATUS_OK) status = of->total(of, room, n, c, square, error);
  for (size_t i = 0; i < n * c; i++)
    room[i] = all[i / c] * (self->targets[i] - mean[i % c]);
  if (status == SCL_STATUS_OK) status = of->adjoint(of, room, c, self->sums, error);
  scl_release(room);
  sums->right = self->sums;
  sums->square = square;
  return status;
}

static scl_status reweighted(const scl_problem *problem, const double *weights, scl_normal *out,
                             scl_error *error) {
  weighted *self = weighted_of(problem);
  SCL_TRY(self->of->reweighted(self->of, weights, out, error));
  return self->targets == NULL ? SCL_STATUS_OK : replace_targets(self, weights, out, error);
}

static scl_status normal(const scl_problem *problem, scl_normal *out, scl_error *error) {
  weighted *self = weighted_of(problem);
  if (self->weights != NULL) return reweighted(problem, self->weights, out, error);
  SCL_TRY(self->of->normal(self->of, out, error));
  return self->targets == NULL ? SCL_STATUS_OK : replace_targets(self, NULL, out, error);
}

static scl_status sparse_rows(const scl_problem *problem, scl_const_csr *out, scl_error *error) {
  const weighted *self = weighted_of(problem);
  return self->of->sparse_rows(self->of, out, error);
}

static scl_status dual(const scl_problem *problem, const scl_symmetric **outer,
                       const double **targets, scl_error *error) {
  (void)problem, (void)outer, (void)targets;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "'dual' is for rows with the weights and targets of the data");
}

static scl_status gram(const scl_problem *problem, const scl_symmetric **out, scl_error *error) {
  const weighted *self = weighted_of(problem);
  return self->of->gram(self->of, out, error);
}

static scl_status product(const scl_problem *problem, const double *a, size_t k, double *out,
                          scl_error *error) {
  const weighted *self = weighted_of(problem);
  return self->of->product(self->of, a, k, out, error);
}

static scl_status adjoint(const scl_problem *problem, const double *r, size_t k, double *out,
                          scl_error *error) {
  const weighted *self = weighted_of(problem);
  return self->of->adjoint(self->of, r, k, out, error);
}

static scl_status progress(const scl_problem *problem, const char *doing, double done, double loss,
                           scl_error *error) {
  const weighted *self = weighted_of(problem);
  return self->of->progress(self->of, doing, done, loss, error);
}

static scl_status total(const scl_problem *problem, const double *values, size_t count, size_t k,
                        double *sums, scl_error *error) {
  const weighted *self = weighted_of(problem);
  return self->of->total(self->of, values, count, k, sums, error);
}

/* Rows that are drawn or held out have no weights of their own. */
static scl_status drawn(scl_error *error) {
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "a solver that draws rows or holds some out cannot be given other row weights or "
                  "targets");
}

static scl_status minibatch(const scl_problem *problem, uint64_t seed, uint64_t step, size_t size,
                            size_t first, size_t count, int32_t plain, scl_visit visit,
                            void *context, scl_error *error) {
  (void)problem, (void)seed, (void)step, (void)size, (void)first, (void)count, (void)plain;
  (void)visit, (void)context;
  return drawn(error);
}

static scl_status hold_out(const scl_problem *problem, double share, uint64_t seed, size_t *count,
                           scl_error *error) {
  (void)problem, (void)share, (void)seed, (void)count;
  return drawn(error);
}

static scl_status held(const scl_problem *problem, size_t first, size_t count, scl_visit visit,
                       void *context, scl_error *error) {
  (void)problem, (void)first, (void)count, (void)visit, (void)context;
  return drawn(error);
}

/* No state of it is stored: the problem of the outer solver has one. */
static scl_status keep(const scl_problem *problem, const scl_state_part *parts, size_t count,
                       int32_t *restored, scl_error *error) {
  (void)problem, (void)parts, (void)count, (void)error;
  *restored = 0;
  return SCL_STATUS_OK;
}

static weighted weighted_problem(const scl_problem *of, const double *weights,
                                 const double *targets) {
  weighted w = {.of = of, .weights = weights, .targets = targets};
  SCL_COPY(&w.problem, of);
  w.problem.warm = 0;
  if (targets != NULL) {
    w.problem.task = SCL_TASK_REGRESSION;
    w.problem.classes = 0;
    w.problem.target_shift = NULL;
    if (of->exact == 1) w.problem.exact = 0;
  }
  w.problem.responses = responses;
  w.problem.walk = walk;
  w.problem.normal = normal;
  w.problem.dual = dual;
  w.problem.gram = gram;
  w.problem.product = product;
  w.problem.adjoint = adjoint;
  w.problem.sweep = sweep;
  w.problem.reweighted = reweighted;
  w.problem.minibatch = minibatch;
  w.problem.progress = progress;
  w.problem.hold_out = hold_out;
  w.problem.held = held;
  w.problem.total = total;
  w.problem.keep = keep;
  w.problem.sparse_rows = sparse_rows;
  return w;
}

/* The constant that the solver left to the host, for these coefficients:
 *   b_j = sum_i w_i (y_ij - phi(x_i)' a_j) / sum_i w_i. */
static scl_status fill_intercept(const scl_problem *problem, scl_solution *out, scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  double *room = scl_allocate_array(n * (2 * c + 1), sizeof *room);
  if (room == NULL) return scl_fail_memory(error, n * (2 * c + 1) * sizeof *room, "an intercept");
  double *targets = room, *scores = room + n * c, *weights = room + 2 * n * c, sum = 0;
  scl_status status = problem->responses(problem, targets, weights, error);
  if (status == SCL_STATUS_OK)
    status = problem->product(problem, out->coefficients, c, scores, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++)
    for (size_t j = 0; j < c; j++)
      scores[i * c + j] = weights[i] * (targets[i * c + j] - scores[i * c + j]);
  if (status == SCL_STATUS_OK) status = problem->total(problem, weights, n, 1, &sum, error);
  if (status == SCL_STATUS_OK)
    status = problem->total(problem, scores, n, c, out->intercept, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++)
    out->intercept[j] /= sum;
  scl_release(room);
  return status;
}

static bool is_nan(const double *numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (isnan(numbers[i])) return true;
  return false;
}

scl_status scl_part_learn(const scl_instance *solver, const scl_problem *of, const double *weights,
                          const double *targets, void **own, scl_solution *out, scl_error *error) {
  weighted w = weighted_problem(of, weights, targets);
  const bool makes_models = own != NULL && scl_instance_has(solver, SCL_ABILITY_MODEL);
  /* Sums are centred for the problem's constant; a solver of models has its own. */
  if (makes_models) w.problem.intercept = scl_solver_wants_intercept(solver);
  const bool same = weights == NULL && targets == NULL && w.problem.intercept == of->intercept;
  const scl_problem *problem = same ? of : &w.problem;
  if (SCL_HAS(of, csr) && of->csr && !scl_instance_has(solver, SCL_ABILITY_CSR_ROWS))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "solver.%s reads dense rows, and the solver that calls it has sparse ones",
                    scl_instance_name(solver));
  out->outcome = SCL_OUTCOME_NONE;
  out->iterations = 0;
  out->gap = out->residual = out->tolerance = out->score = NAN;
  out->jitter = 0;
  out->note[0] = 0;
  scl_status status;
  if (makes_models) {
    out->coefficients = out->intercept = NULL;
    status = scl_solver_fit(solver, problem, NULL, 1, own, &out, error);
  } else {
    for (size_t i = 0; i < of->features * of->targets; i++)
      out->coefficients[i] = 0;
    for (size_t j = 0; out->intercept != NULL && j < of->targets; j++)
      out->intercept[j] = NAN;
    status = scl_solver_solve(solver, problem, NULL, 1, &out, error);
    if (status == SCL_STATUS_OK && out->intercept != NULL && is_nan(out->intercept, of->targets))
      status = fill_intercept(problem, out, error);
  }
  scl_release(w.sums); /* also those that a part of a part asked for */
  return status;
}

scl_status scl_part_solve(const scl_instance *solver, const scl_problem *of, const double *weights,
                          scl_solution *out, scl_error *error) {
  return scl_part_learn(solver, of, weights, NULL, NULL, out, error);
}
