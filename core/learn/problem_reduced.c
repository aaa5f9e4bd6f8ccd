/* Problems in the coordinates b of reduced.h, a = back b: their features are those of rows times
 * `back`. Solvers that work from the normal equations alone (SCL_ABILITY_NORMAL) are given these;
 * that is decided here, before they are called. */
#include "algebra/dense.h"
#include "learn/problem_internal.h"
#include "learn/quadratic.h"

/* The same problem in the coordinates of the features, for the verbs that read rows. */
static const scl_problem *in_features(const scl_problem *problem) {
  return &context_of(problem)->in_features->problem;
}

/* *a (D x k, made here) = back b; uninitialised if b is NULL. */
static scl_status make_coefficients(const scl_problem *problem, const double *b, size_t k,
                                    double **a, scl_error *error) {
  const scl_reduced *r = context_of(problem)->reduced;
  const size_t numbers = r->features * k;
  *a = scl_allocate_array(numbers + 1, sizeof **a);
  if (*a == NULL) return scl_fail_memory(error, numbers * sizeof **a, "coefficients of features");
  if (b != NULL) scl_reduced_restore(r, b, k, *a);
  return SCL_STATUS_OK;
}

/* ------------ rows in these coordinates */

/* A walk that writes the rows of a problem times `back`. */
typedef struct turning {
  solve_context *solve;
  size_t seen;
} turning;

static scl_status turn_block(void *context, const scl_flow_block *block, scl_error *error) {
  turning *t = context;
  const scl_reduced *r = t->solve->reduced;
  const scl_flow *flow = &t->solve->training->flow;
  const size_t k = r->order;
  size_t run[2][2];
  (void)error;
  for (size_t q = 0, runs = scl_problem_runs(t->solve, block, run); q < runs; q++) {
    const size_t count = run[q][1] - run[q][0];
    scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, false, count, k, r->features, 1,
                      scl_flow_row(flow, block, run[q][0]), block->phi_stride, r->back,
                      (ptrdiff_t)k, 0, t->solve->reduced_rows + t->seen * k, (ptrdiff_t)k);
    t->seen += count;
  }
  return SCL_STATUS_OK;
}

/* Make s->reduced_rows: k numbers for a row, in place of its D features. */
static scl_status make_rows(solve_context *s, scl_error *error) {
  scl_training *training = s->training;
  turning t = {.solve = s};
  SCL_TRY(scl_problem_read_facts(&s->problem, error));
  pthread_mutex_lock(&training->lock);
  const scl_status status = scl_flow_walk(&training->flow, true, turn_block, &t, error);
  pthread_mutex_unlock(&training->lock);
  return status;
}

/* Whether the problem's rows are there in its own coordinates, which are made at the first pass
 * that needs them, if they fit. */
static scl_status has_rows(const scl_problem *problem, bool *has, scl_error *error) {
  solve_context *s = context_of(problem);
  const double bytes = (double)problem->rows * (double)problem->features * sizeof(double);
  *has = s->reduced_rows != NULL;
  s->walked += (double)problem->rows;
  if (*has || s->divided || bytes > (double)s->training->allowance) return SCL_STATUS_OK;
  s->reduced_rows = scl_allocate_array(problem->rows * problem->features + 1, sizeof(double));
  if (s->reduced_rows == NULL) return SCL_STATUS_OK; /* features serve too */
  const scl_status status = make_rows(s, error);
  *has = status == SCL_STATUS_OK;
  if (*has) return status;
  scl_release(s->reduced_rows);
  s->reduced_rows = NULL;
  return status;
}

/* ------------ verbs */

/* Phi back b: the product of the restored coefficients. */
static scl_status reduced_product(const scl_problem *problem, const double *b, size_t k,
                                  double *out, scl_error *error) {
  bool has;
  SCL_TRY(has_rows(problem, &has, error));
  if (has) return scl_problem_product(problem, b, k, out, error);
  double *a;
  SCL_TRY(make_coefficients(problem, b, k, &a, error));
  const scl_status status = scl_problem_product(in_features(problem), a, k, out, error);
  scl_release(a);
  return status;
}

/* back' Phi' r: the adjoint in the features, reduced. */
static scl_status reduced_adjoint(const scl_problem *problem, const double *r, size_t k,
                                  double *out, scl_error *error) {
  bool has;
  SCL_TRY(has_rows(problem, &has, error));
  if (has) return scl_problem_adjoint(problem, r, k, out, error);
  double *sums;
  SCL_TRY(make_coefficients(problem, NULL, k, &sums, error));
  const scl_status status = scl_problem_adjoint(in_features(problem), r, k, sums, error);
  if (status == SCL_STATUS_OK) scl_reduced_adjoint(context_of(problem)->reduced, sums, k, out);
  scl_release(sums);
  return status;
}

/* Phi' turn(Phi a) in the features, and back' of it. */
static scl_status reduced_sweep(const scl_problem *problem, const double *b, size_t k,
                                scl_turn turn, void *context, double *out, scl_error *error) {
  bool has;
  SCL_TRY(has_rows(problem, &has, error));
  if (has) return scl_problem_sweep(problem, b, k, turn, context, out, error);
  double *a, *sums;
  SCL_TRY(make_coefficients(problem, b, k, &a, error));
  scl_status status = make_coefficients(problem, NULL, k, &sums, error);
  if (status == SCL_STATUS_OK)
    status = scl_problem_sweep(in_features(problem), a, k, turn, context, sums, error);
  if (status == SCL_STATUS_OK) scl_reduced_adjoint(context_of(problem)->reduced, sums, k, out);
  SCL_RELEASE(a, sums);
  return status;
}

static scl_status reduced_responses(const scl_problem *problem, double *targets, double *weights,
                                    scl_error *error) {
  return scl_problem_responses(in_features(problem), targets, weights, error);
}

/* Restate an open problem in the reduced coordinates; s->in_features keeps the original one, which
 * the verbs that read rows use. */
static scl_status state_reduced(solve_context *s, const scl_reduced *reduced, scl_error *error) {
  scl_problem *problem = &s->problem;
  solve_context *features = scl_allocate_zero(sizeof *features);
  if (features == NULL) return scl_fail_memory(error, sizeof *features, "a problem");
  *features = (solve_context){.problem = *problem, .training = s->training, .without = s->without};
  s->in_features = features;
  s->reduced = reduced;
  scl_problem_refuse_rows(problem);
  problem->features = problem->parameters = reduced->order;
  problem->scale = NULL;
  problem->product = reduced_product;
  problem->adjoint = reduced_adjoint;
  problem->sweep = reduced_sweep;
  problem->responses = reduced_responses;
  return SCL_STATUS_OK;
}

bool scl_problem_is_reducible(const scl_training *training, const scl_instance *solver,
                              const scl_problem *problem, const double *values, size_t count) {
  scl_penalty penalty;
  return training->way->has_codes && training->flow.dtype != SCL_DTYPE_FLOAT32 &&
         training->flow.pilot == NULL && /* which has the coordinates of the features */
         scl_solver_shrinks(solver, &penalty) &&
         (penalty != SCL_PENALTY_RKHS || problem->has_kernel) &&
         scl_solver_needs_normal_alone(solver, problem, values, count,
                                       training->flow.weights != NULL);
}

scl_status scl_problem_reduce(solve_context *s, const scl_instance *solver, const double *values,
                              size_t count, scl_error *error) {
  scl_training *training = s->training;
  const scl_reduced *reduced;
  if (!scl_problem_is_reducible(training, solver, &s->problem, values, count)) return SCL_STATUS_OK;
  s->penalty = scl_solver_penalty(solver);
  SCL_TRY(scl_training_reduce(training, s->penalty, &reduced, error));
  return reduced == NULL ? SCL_STATUS_OK : state_reduced(s, reduced, error);
}
