/* A training (the rows, with what all its problems share), and one solve: the problem that a solver
 * sees is opened, solved and closed here; the files problem_*.c answer what the solver asks. */
#include "learn/alike.h"
#include "learn/problem_internal.h"
#include "rows/joined.h"

#include "algebra/exact.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/memory_left.h"
#include "learn/quadratic.h"
#include "plugin/host.h"
#include "processes/processes.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* The allowance is at most half of the memory that is left, so that caches do not exhaust it.
 * Solvers may choose a method by it: several processes take that of the process with the least. */
static scl_status agree_on_allowance(scl_training *training, scl_error *error) {
  int64_t least = -(int64_t)scl_min(training->allowance, INT64_MAX);
  scl_flow_digests of;
  if (!scl_flow_divides(&training->flow)) return SCL_STATUS_OK;
  const scl_status mine = scl_flow_digest(&training->flow, &of, error);
  SCL_TRY(scl_processes_meet(
      mine, error, "a fit to %zu rows (digest %08x) by %zu features (digest %08x)",
      training->flow.source->rows, of.rows, scl_flow_features(&training->flow), of.features));
  SCL_TRY(scl_processes_maximum(&least, 1, error));
  training->allowance = (size_t)-least;
  return SCL_STATUS_OK;
}

scl_status scl_training_create(const scl_flow *flow, scl_task task, size_t classes,
                               size_t allowance, scl_training **out, scl_error *error) {
  scl_training *training = scl_allocate_zero(sizeof *training);
  if (training == NULL) return scl_fail_memory(error, sizeof *training, "a training");
  training->flow = *flow;
  training->way = scl_sums_way_of(flow);
  training->task = task;
  training->classes = classes;
  size_t left = scl_memory_left_about();
  if (left / 2 < allowance) left = scl_memory_left(); /* some may have been released since */
  training->allowance = scl_min(allowance, left / 2);
  (void)pthread_mutex_init(&training->lock, NULL);
  const scl_status status = agree_on_allowance(training, error);
  if (status == SCL_STATUS_OK)
    *out = training;
  else
    scl_training_destroy(training);
  return status;
}

void scl_training_destroy(scl_training *training) {
  if (training == NULL) return;
  scl_training_destroy(training->in_order);
  scl_pilot_release(&training->pilot);
  if (training->given && training->sums != NULL) training->sums->whole = NULL; /* borrowed */
  scl_release(training->unit);
  scl_sums_destroy(training->sums);
  scl_symmetric_destroy(training->gram);
  scl_reduced_destroy(training->reduced[0]);
  scl_reduced_destroy(training->reduced[1]);
  scl_map_destroy(training->plain);
  scl_keep_destroy(training->kept);
  scl_keep_destroy(training->kept_part);
  scl_ordered_destroy(training->ordered);
  scl_release(training->order);
  (void)pthread_mutex_destroy(&training->lock);
  scl_release(training);
}

scl_status scl_training_gram(scl_training *training, const scl_symmetric **out, scl_error *error) {
  if (training->flow.map == NULL)
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "these features have no K (and phi is not a kernel, which has k itself as K), so "
        "no Gram matrix of parameters");
  pthread_mutex_lock(&training->lock);
  const scl_status status = training->gram == NULL
                                ? scl_map_gram(training->flow.map, &training->gram, error)
                                : SCL_STATUS_OK;
  pthread_mutex_unlock(&training->lock);
  *out = training->gram;
  return status;
}

void scl_fit_release(scl_fit *fit) {
  scl_matrix_release(&fit->coefficients);
  scl_matrix_release(&fit->intercept);
  scl_matrix_release(&fit->pilot);
  memset(fit, 0, sizeof *fit);
}

/* ------------ opening and closing */

/* The number of rows outside group `without` (-1: all rows), and the sum of their weights. */
static size_t rows_without(const scl_flow *flow, long without, double *total) {
  size_t rows = 0;
  *total = 0;
  if (without < 0 && flow->weights == NULL) {
    *total = (double)flow->source->rows;
    return flow->source->rows;
  }
  for (size_t i = 0; i < flow->source->rows; i++) {
    if (without >= 0 && flow->group[i] == (int32_t)without) continue;
    *total += flow->weights == NULL ? 1 : flow->weights[i];
    rows++;
  }
  return rows;
}

scl_status scl_problem_enter(const scl_problem *problem, const char *verb, scl_error *error) {
  const solve_context *s = context_of(problem);
  if (!s->visiting && (s->in_features == NULL || !s->in_features->visiting)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL, "problem.%s was called from inside a visit", verb);
}

scl_status scl_problem_visit(const scl_problem *problem, scl_visit visit, void *context,
                             const scl_rows *rows, scl_error *error) {
  solve_context *s = context_of(problem);
  s->visiting = true;
  const scl_status status = visit(context, rows, error);
  s->visiting = false;
  return status;
}

/* Slot scl_problem.gram: the matrix of the penalty a'Ga in the coordinates of this problem. */
static scl_status answer_gram(const scl_problem *problem, const scl_symmetric **out,
                              scl_error *error) {
  const solve_context *s = context_of(problem);
  SCL_TRY(scl_problem_enter(problem, "gram", error));
  if (s->reduced != NULL && s->penalty == SCL_PENALTY_RKHS) {
    *out = s->reduced->gram;
    return SCL_STATUS_OK;
  }
  if (s->reduced != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "these coordinates are for the penalty a'a");
  return scl_training_gram(context_of(problem)->training, out, error);
}

/* Slot scl_problem.reach. */
static scl_status answer_reach(const scl_problem *problem, double *theta, scl_error *error) {
  const scl_map *map = flow_of(problem)->map;
  scl_constants constants;
  if (map == NULL) return scl_fail(error, SCL_STATUS_UNSUPPORTED, "these features have no K");
  SCL_TRY(scl_map_constants(map, INFINITY, &constants, error));
  *theta = constants.theta;
  return SCL_STATUS_OK;
}

/* Slot scl_problem.progress: show how far the solver is; SCL_STATUS_CANCELLED ends it. */
static scl_status answer_progress(const scl_problem *problem, const char *doing, double done,
                                  double loss, scl_error *error) {
  scl_progress *progress = &context_of(problem)->progress;
  if (flow_of(problem)->doing != NULL) progress->stage = doing;
  progress->loss = loss;
  progress->iteration++;
  scl_progress_report(progress, done);
  return scl_interrupt_check(error);
}

/* Slot scl_problem.total. */
static scl_status answer_total(const scl_problem *problem, const double *values, size_t count,
                               size_t k, double *sums, scl_error *error) {
  SCL_TRY(scl_problem_enter(problem, "total", error));
  if (context_of(problem)->apart && count == problem->rows)
    return scl_divided_total(problem, values, count, k, sums, error);
  scl_exact_sum(values, count, k, sums);
  return SCL_STATUS_OK;
}

/* The table that the solver sees, before its rows are counted. `rounding` is the relative error of
 * the sums. In float32 it is ten times the epsilon: sums of many products lose one more digit, and
 * where the products are equal, all their rounding errors have one sign. */
static scl_problem problem_of(const scl_training *training, const scl_flow *flow,
                              const scl_instance *solver) {
  const scl_map *map = flow->map;
  const bool logged = flow->checkpoint != NULL && !training->aside,
             divided = scl_flow_divides(flow);
  return (scl_problem){
      .head = SCL_HEAD(scl_problem),
      .host = scl_host_get(),
      .features = scl_flow_features(flow),
      .targets = flow->source->targets,
      .task = training->task,
      .dtype = scl_solver_takes(solver, flow->dtype) ? flow->dtype : SCL_DTYPE_FLOAT64,
      .classes = training->classes,
      .has_kernel = map != NULL && scl_map_has_kernel(map),
      .intercept = scl_solver_wants_intercept(solver),
      .log_scale = map == NULL ? 0 : scl_map_log_scale(map),
      .allowance = training->allowance,
      .parameters = map == NULL         ? 0
                    : flow->planned > 0 ? flow->planned
                                        : scl_map_count(map),
      .entries = scl_instance_has(solver, SCL_ABILITY_SPARSE_ROWS) ? scl_flow_entries(flow) : 0,
      .responses = scl_problem_responses,
      .walk = scl_problem_walk,
      .normal = scl_problem_normal,
      .dual = scl_problem_dual,
      .gram = answer_gram,
      .product = logged    ? scl_logged_product
                 : divided ? scl_divided_product
                           : scl_problem_product,
      .adjoint = logged ? scl_logged_adjoint : scl_problem_adjoint,
      .sweep = logged    ? scl_logged_sweep
               : divided ? scl_divided_sweep
                         : scl_problem_sweep,
      .reweighted = scl_problem_reweighted,
      .minibatch = scl_problem_minibatch,
      .progress = answer_progress,
      .hold_out = scl_problem_hold_out,
      .held = scl_problem_held,
      .total = answer_total,
      .csr = scl_flow_has_csr(flow) && scl_instance_has(solver, SCL_ABILITY_CSR_ROWS),
      .sparse_rows = scl_problem_sparse_rows,
      .keep = scl_problem_keep,
      .reach = answer_reach,
      .rounding = flow->dtype == SCL_DTYPE_FLOAT32 && !scl_flow_has_bits(flow) &&
                          scl_flow_whole(flow) == SCL_WHOLE_NONE
                      ? 10 * FLT_EPSILON
                      : DBL_EPSILON,
      .exact = training->by_sums                                                     ? 2
               : map != NULL && scl_map_wanted_whole(map) && scl_flow_is_exact(flow) ? 1
                                                                                     : 0};
}

scl_problem scl_problem_sizes(const scl_training *training, const scl_flow *flow,
                              const scl_instance *solver) {
  scl_problem problem = problem_of(training, flow, solver);
  problem.rows = flow->source->rows;
  return problem;
}

/* Whether the solution may depend on the order of the rows, although sums over them do not: by the
 * solver's word, because its model is made of rows, or because it may take Phi Phi' of more features
 * than rows. */
static bool needs_order(const scl_training *training, const scl_instance *solver, long without) {
  const scl_flow *flow = &training->flow;
  double total;
  scl_problem problem = problem_of(training, flow, solver);
  problem.rows = rows_without(flow, without, &total);
  return (scl_instance_has(solver, SCL_ABILITY_ORDERED_ROWS) ||
          scl_instance_has(solver, SCL_ABILITY_MODEL) || problem.features > problem.rows) &&
         !scl_solver_needs_normal_alone(solver, &problem, NULL, 0, flow->weights != NULL);
}

/* Whether processes can share the tiles of the matrices of this training, if they are to. */
static scl_status check_tiles(const scl_training *training, const scl_instance *solver,
                              scl_error *error) {
  if (!training->flow.share_tiles) return SCL_STATUS_OK;
  if (!scl_instance_has(solver, SCL_ABILITY_SHARED_TILES) ||
      scl_solver_penalty(solver) == SCL_PENALTY_RKHS)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option 'tiles': this solver, with these options, needs a whole matrix of the "
                    "order of the features in each process");
  if (!training->way->whole)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option 'tiles': rows of these features are summed by the way \"%s\", whose "
                    "matrices are not shared",
                    training->way->name);
  if (training->flow.group != NULL || training->flow.checkpoint != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option 'tiles': not with folds, nor with a checkpoint");
  return SCL_STATUS_OK;
}

/* solve_context.picks_all; a solver that does not declare its cost may. */
static bool picks_all(const solve_context *s, const scl_instance *solver) {
  const scl_flow *flow = &s->training->flow;
  scl_cost cost = {0};
  if (s->without < 0) return false;
  return !scl_solver_cost(solver, &s->problem, NULL, 0, flow->weights != NULL, &cost) ||
         (double)flow->groups * cost.minibatch >=
             (double)flow->source->rows * (double)s->problem.features;
}

scl_status scl_problem_open(solve_context *s, scl_training *training, const scl_instance *solver,
                            long without, scl_error *error) {
  double total;
  SCL_TRY(check_tiles(training, solver, error));
  if (needs_order(training, solver, without))
    SCL_TRY(scl_training_in_order(training, &training, error));
  *s = (solve_context){.problem = problem_of(training, &training->flow, solver),
                       .training = training,
                       .without = without,
                       .divided = scl_flow_divides(&training->flow),
                       .same_calls = scl_instance_has(solver, SCL_ABILITY_SHARED_TILES),
                       .apart = scl_flow_divides(&training->flow) &&
                                scl_instance_has(solver, SCL_ABILITY_ROWS_APART)};
  SCL_TRY(scl_training_centre(
      training, s->problem.intercept && !scl_instance_has(solver, SCL_ABILITY_MODEL), error));
  if (s->problem.intercept) s->problem.scale = training->pilot.scale; /* borrowed, or NULL */
  s->problem.target_shift = training->flow.target_pilot;
  s->problem.rows = rows_without(&training->flow, without, &total);
  s->problem.scored = without >= 0;
  s->picks_all = picks_all(s, solver);
  if (s->problem.rows == 0 || s->problem.features == 0 || s->problem.targets == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "nothing to learn from: %zu rows, %zu features, %zu targets", s->problem.rows,
                    s->problem.features, s->problem.targets);
  if (!(total > 0))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0 outside fold %ld",
                    without + 1);
  s->profiled = scl_profile_enter("solving");
  s->progress = scl_progress_begin(training->flow.doing == NULL ? NULL : "solving", NULL, 1);
  return SCL_STATUS_OK;
}

void scl_problem_close(solve_context *s) {
  scl_progress_end(&s->progress);
  scl_profile_leave(s->profiled, 0, 0);
  scl_symmetric_destroy(s->moment);
  scl_release(s->parts);
  scl_sums_destroy(s->own);
  scl_symmetric_destroy(s->outer);
  scl_release(s->outer_targets);
  scl_release(s->totals.right);
  scl_window_destroy(s->window);
  scl_held_destroy(s->held);
  scl_row_facts_destroy(s->facts);
  scl_release(s->reduced_rows);
  scl_csr_release(&s->csr);
  if (s->in_features != NULL) scl_row_facts_destroy(s->in_features->facts);
  scl_release(s->in_features);
}

scl_solution scl_solution_blank(void) {
  return (scl_solution){.head = SCL_HEAD(scl_solution),
                        .outcome = SCL_OUTCOME_NONE,
                        .gap = NAN,
                        .residual = NAN,
                        .tolerance = NAN,
                        .score = NAN};
}

/* ------------ one solve */

/* The optimal intercept for coefficients a: b = mean y - (mean phi)' a, with means over the rows of
 * the problem by weight. */
static void set_intercept(const solve_context *s, scl_fit *fit) {
  const size_t d = s->problem.features, c = s->problem.targets;
  double *b = fit->intercept.data;
  for (size_t j = 0; j < c; j++) {
    b[j] = s->totals.mean_y[j];
    for (size_t i = 0; i < d; i++)
      b[j] -= s->totals.mean_phi[i] * fit->solution.coefficients[i * c + j];
  }
}

scl_status scl_fits_start(const scl_problem *problem, size_t count, scl_fit *fits,
                          scl_error *error) {
  const size_t c = problem->targets;
  memset(fits, 0, count * sizeof *fits);
  for (scl_fit *fit = fits; fit < fits + count; fit++) {
    SCL_TRY(scl_matrix_create(problem->features, c, SCL_DTYPE_FLOAT64, &fit->coefficients, error));
    SCL_TRY(scl_matrix_create(1, c, SCL_DTYPE_FLOAT64, &fit->intercept, error));
    fit->solution = scl_solution_blank();
    fit->solution.coefficients = fit->coefficients.data;
    if (!problem->intercept) continue;
    fit->solution.intercept = fit->intercept.data;
    for (size_t j = 0; j < c; j++)
      fit->solution.intercept[j] = NAN; /* a solver that leaves NaN lets the host compute it */
  }
  return SCL_STATUS_OK;
}

scl_status scl_problem_call(const scl_problem *problem, const scl_instance *solver,
                            const double *values, size_t count, scl_fit *fits, scl_error *error) {
  scl_solution **list = scl_allocate_array(count + 1, sizeof *list);
  if (list == NULL) return scl_fail_memory(error, count * sizeof *list, "solutions");
  for (size_t k = 0; k < count; k++)
    list[k] = &fits[k].solution;
  const scl_status status = scl_solver_solve(solver, problem, values, count, list, error);
  scl_release(list);
  return status;
}

/* The loss is the mean squared error from the sums, (y'y - 2 a'Phi'y + a'Phi'Phi a)/n for each
 * target, added up. NaN where the problem's own sums were not made: sums with a solver's own row
 * weights give another loss. */
scl_status scl_fits_finish(solve_context *s, size_t count, scl_fit *fits, scl_error *error) {
  const scl_totals *t = &s->totals;
  for (scl_fit *fit = fits; fit < fits + count; fit++) {
    if (s->problem.intercept && isnan(fit->solution.intercept[0])) {
      SCL_TRY(scl_problem_means(s, error));
      set_intercept(s, fit);
    }
    if (s->problem.intercept) SCL_TRY(scl_training_keep_pilot(s->training, fit, error));
    fit->loss = s->moment == NULL || s->reweighted || !(t->total > 0)
                    ? NAN
                    : scl_squared_loss(s->moment, t->right, t->square, t->total, s->problem.targets,
                                       fit->solution.coefficients);
  }
  return SCL_STATUS_OK;
}

/* Replace the coefficients b (k x c) of a fit in reduced coordinates by those of the features. */
static scl_status restore_fit(const scl_reduced *reduced, scl_fit *fit, scl_error *error) {
  const size_t c = fit->coefficients.cols;
  scl_matrix a;
  SCL_TRY(scl_matrix_create(reduced->features, c, SCL_DTYPE_FLOAT64, &a, error));
  scl_reduced_restore(reduced, fit->coefficients.data, c, a.data);
  scl_matrix_release(&fit->coefficients);
  fit->coefficients = a;
  fit->solution.coefficients = a.data;
  return SCL_STATUS_OK;
}

/* Solve an open problem, in reduced coordinates where they exist (problem_reduced.c). After a
 * failure the caller releases the fits. */
static scl_status solve_open(solve_context *s, const scl_instance *solver, const double *values,
                             size_t count, scl_fit *fits, scl_error *error) {
  memset(fits, 0, count * sizeof *fits); /* so that the caller can release them in any case */
  SCL_TRY(scl_problem_reduce(s, solver, values, count, error));
  SCL_TRY(scl_fits_start(&s->problem, count, fits, error));
  SCL_TRY(scl_problem_call(&s->problem, solver, values, count, fits, error));
  SCL_TRY(scl_fits_finish(s, count, fits, error));
  for (size_t k = 0; s->reduced != NULL && k < count; k++)
    SCL_TRY(restore_fit(s->reduced, &fits[k], error));
  for (size_t k = 0; k < count; k++)
    fits[k].passes = s->walked / (double)s->problem.rows;
  return SCL_STATUS_OK;
}

/* A digest of the values of all options, also of those of components in them. */
static uint64_t mix_settings(uint64_t hash, const scl_settings *s) {
  for (size_t i = 0; i < s->count; i++) {
    const scl_value *v = &s->values[i];
    hash = scl_mix_bytes(hash, &v->form, sizeof v->form);
    hash = scl_mix_bytes(hash, &v->number, sizeof v->number);
    if (v->word != NULL) hash = scl_mix_bytes(hash, v->word, strlen(v->word));
    if (v->list != NULL) hash = scl_mix_bytes(hash, v->list, v->length * sizeof *v->list);
    for (size_t k = 0; s->parts[i] != NULL && k < v->length; k++) {
      const char *name = scl_instance_name(s->parts[i][k]);
      hash = mix_settings(scl_mix_bytes(hash, name, strlen(name)), &s->parts[i][k]->settings);
    }
  }
  return hash;
}

scl_status scl_training_agree(const scl_training *training, const scl_instance *solver,
                              const double *values, size_t count, scl_error *error) {
  char text[101];
  if (!scl_flow_divides(&training->flow)) return SCL_STATUS_OK;
  const uint64_t hash = mix_settings(
      scl_mix_bytes(0, values, (values == NULL ? 0 : count) * sizeof *values), &solver->settings);
  return scl_processes_meet(
      SCL_STATUS_OK, error, "solver.%s{ %s } (digest %08x)", scl_instance_name(solver),
      scl_settings_text(&solver->settings, text, sizeof text), (uint32_t)(hash >> 32));
}

scl_status scl_training_solve(scl_training *training, const scl_instance *solver, long without,
                              const double *values, size_t count, scl_fit *fits, scl_error *error) {
  const size_t solves = values == NULL ? 1 : count;
  solve_context s;
  SCL_TRY(scl_training_agree(training, solver, values, count, error));
  SCL_TRY(scl_problem_open(&s, training, solver, without, error));
  const scl_status status = solve_open(&s, solver, values, solves, fits, error);
  for (size_t k = 0; status != SCL_STATUS_OK && k < solves; k++)
    scl_fit_release(&fits[k]);
  scl_problem_close(&s);
  return status;
}

/* The solver's objective at coefficients a (D x c, float64, packed) and an intercept (1 x c, or
 * NULL), both for features and targets as they are, without pilot means. */
static scl_status objective_at(solve_context *s, const scl_instance *solver, const scl_matrix *a,
                               const scl_matrix *intercept, double *value, scl_error *error) {
  const scl_problem *problem = &s->problem;
  scl_matrix b = {0};
  scl_status status = SCL_STATUS_OK;
  if (intercept != NULL) status = scl_matrix_copy(intercept, SCL_DTYPE_FLOAT64, &b, error);
  if (status == SCL_STATUS_OK && intercept != NULL)
    scl_training_intercept_to_pilot(s->training, a->data, b.data);
  if (status == SCL_STATUS_OK)
    status = scl_solver_objective(solver, problem, a->data, b.data, value, error);
  scl_matrix_release(&b);
  return status;
}

scl_status scl_training_objective(scl_training *training, const scl_instance *solver,
                                  const scl_matrix *coefficients, const scl_matrix *intercept,
                                  double *value, scl_error *error) {
  solve_context s;
  scl_matrix a;
  SCL_TRY(scl_problem_open(&s, training, solver, -1, error));
  scl_status status = scl_matrix_copy(coefficients, SCL_DTYPE_FLOAT64, &a, error);
  if (status == SCL_STATUS_OK) {
    const size_t c = s.problem.targets;
    if (a.rows != s.problem.features || a.cols != c ||
        (intercept != NULL && (intercept->rows != 1 || intercept->cols != c)))
      status = scl_fail(error, SCL_STATUS_BAD_SHAPE,
                        "coefficients are %zu x %zu where there are %zu features and %zu targets",
                        a.rows, a.cols, s.problem.features, c);
    else
      status = objective_at(&s, solver, &a, intercept, value, error);
    scl_matrix_release(&a);
  }
  scl_problem_close(&s);
  return status;
}
