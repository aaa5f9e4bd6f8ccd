#include "algebra/dense.h"
#include "learn/problem_internal.h"
#include "map/projection.h"
#include "plugin/host.h"
#include <math.h>
#include <string.h>

scl_status scl_training_create(const scl_flow *flow, scl_task task, size_t classes,
                               size_t allowance, scl_training **out, scl_error *error) {
  scl_training *training = scl_allocate_zero(sizeof *training);
  if (training == NULL) return scl_fail_memory(error, sizeof *training, "a training");
  training->flow = *flow;
  training->task = task;
  training->classes = classes;
  training->allowance = allowance;
  (void)pthread_mutex_init(&training->lock, NULL);
  *out = training;
  return SCL_STATUS_OK;
}

void scl_training_destroy(scl_training *training) {
  if (training == NULL) return;
  if (training->have_sums) scl_sums_destroy(&training->sums);
  scl_symmetric_destroy(training->gram);
  scl_map_destroy(training->plain);
  scl_keep_destroy(training->kept);
  (void)pthread_mutex_destroy(&training->lock);
  scl_release(training);
}

scl_status scl_training_gram(scl_training *training, const scl_symmetric **out, scl_error *error) {
  if (training->flow.map == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "these features have no K, so no Gram matrix of parameters");
  pthread_mutex_lock(&training->lock);
  const scl_status status = training->gram == NULL
                                ? scl_map_gram(training->flow.map, &training->gram, error)
                                : SCL_STATUS_OK;
  pthread_mutex_unlock(&training->lock);
  *out = training->gram;
  return status;
}

/* ---------------------------------------------------------------- one solve */

void scl_problem_close(solve_context *s) {
  scl_symmetric_destroy(s->work);
  scl_symmetric_destroy(s->dual);
  scl_release(s->dual_targets);
  scl_release(s->right);
}

void scl_fit_release(scl_fit *fit) {
  scl_matrix_release(&fit->coefficients);
  scl_matrix_release(&fit->intercept);
  memset(fit, 0, sizeof *fit);
}

/* How many rows are left without that group, and what they weigh. */
static size_t rows_without(const scl_flow *flow, long without, double *total) {
  size_t rows = 0;
  *total = 0;
  for (size_t i = 0; i < flow->source->rows; i++) {
    if (without >= 0 && flow->group[i] == (int32_t)without) continue;
    *total += flow->weights == NULL ? 1 : flow->weights[i];
    rows++;
  }
  return rows;
}

/* Means of the features and targets over the problem's rows, when the solver did not ask for the
 * normal equations. */
typedef struct averaging {
  double *phi, *y, total;
  size_t features, targets;
} averaging;

static scl_status average_rows(void *context, const scl_rows *rows, scl_error *error) {
  (void)error;
  averaging *a = context;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows->weights == NULL ? 1 : rows->weights[i];
    for (size_t k = 0; k < rows->slots; k++) {
      const int32_t column = rows->columns[i * rows->slots + k];
      if (column >= 0) a->phi[column] += weight * rows->value;
    }
    for (size_t j = 0; rows->slots == 0 && j < a->features; j++)
      a->phi[j] += weight * scl_number((const char *)rows->features.data +
                                           (ptrdiff_t)i * rows->features.row_stride *
                                               (ptrdiff_t)scl_dtype_size(rows->features.dtype),
                                       rows->features.dtype, j);
    for (size_t j = 0; j < a->targets; j++)
      a->y[j] += weight * rows->targets[i * a->targets + j];
    a->total += weight;
  }
  return SCL_STATUS_OK;
}

static scl_status ensure_means(const scl_problem *problem, solve_context *s, scl_error *error) {
  if (s->have_normal) return SCL_STATUS_OK;
  SCL_TRY(scl_problem_reserve(s, problem->features, problem->targets, error));
  averaging a = {s->mean_phi, s->mean_y, 0, problem->features, problem->targets};
  SCL_TRY(problem->walk(problem, average_rows, &a, error));
  for (size_t j = 0; j < problem->features; j++)
    a.phi[j] /= a.total;
  for (size_t j = 0; j < problem->targets; j++)
    a.y[j] /= a.total;
  return SCL_STATUS_OK;
}

/* b = mean y - mean phi a */
static void set_intercept(const scl_problem *problem, const solve_context *s, scl_fit *fit) {
  double *b = fit->intercept.data;
  for (size_t j = 0; j < problem->targets; j++) {
    b[j] = s->mean_y[j];
    for (size_t i = 0; i < problem->features; i++)
      b[j] -= s->mean_phi[i] * fit->solution.coefficients[i * problem->targets + j];
  }
}

/* The mean squared error from the sums: (y'y - 2 a'Phi'y + a'Phi'Phi a)/n, per target, summed. NaN
 * where there are none of the problem's own: sums of a solver's own row weights tell another
 * loss. */
static double loss_of(const scl_problem *problem, const solve_context *s, const scl_fit *fit) {
  const size_t d = problem->features, c = problem->targets;
  if (!s->have_normal || s->reweighted || s->normal.total <= 0) return NAN;
  double *product = scl_allocate_array(d * c + 1, sizeof *product), loss = 0;
  if (product == NULL) return NAN;
  const double *a = fit->solution.coefficients;
  scl_service_symmetric.multiply(s->normal.gram, a, c, product);
  for (size_t j = 0; j < c; j++) {
    double sum = s->normal.square[j];
    for (size_t i = 0; i < d; i++)
      sum += a[i * c + j] * (product[i * c + j] - 2 * s->normal.right[i * c + j]);
    loss += fmax(sum, 0) / s->normal.total;
  }
  scl_release(product);
  return loss;
}

static scl_status call_solver(const scl_problem *problem, const scl_instance *solver,
                              const double *values, size_t count, scl_solution *solutions,
                              scl_error *error) {
  const scl_solver *table = scl_instance_vtable(solver);
  const scl_ability_path *path = scl_instance_ability(solver, SCL_ABILITY_PATH);
  if (values == NULL) return table->solve(solver->self, problem, solutions, error);
  if (path == NULL) return scl_fail(error, SCL_STATUS_UNSUPPORTED, "it has no path over an option");
  scl_solution **list = scl_allocate_array(count + 1, sizeof *list);
  if (list == NULL) return scl_fail_memory(error, count * sizeof *list, "solutions");
  for (size_t k = 0; k < count; k++)
    list[k] = &solutions[k];
  const scl_status status = path->solve(solver->self, problem, values, count, list, error);
  scl_release(list);
  return status;
}

static scl_status finish(const scl_problem *problem, solve_context *s, scl_fit *fits, size_t count,
                         scl_error *error) {
  for (size_t k = 0; k < count; k++) {
    for (size_t i = 0; i < problem->features * problem->targets; i++)
      if (!isfinite(fits[k].solution.coefficients[i]))
        return scl_fail(error, SCL_STATUS_NUMERIC, "the solution is not finite (coefficient %zu)",
                        i + 1);
    if (s->intercept && isnan(fits[k].solution.intercept[0])) {
      SCL_TRY(ensure_means(problem, s, error));
      set_intercept(problem, s, &fits[k]);
    }
    fits[k].loss = loss_of(problem, s, &fits[k]);
  }
  return SCL_STATUS_OK;
}

scl_status scl_problem_open(solve_context *s, scl_training *training, const scl_instance *solver,
                            bool intercept, long without, scl_error *error) {
  const scl_flow *flow = &training->flow;
  const size_t d = scl_flow_features(flow), c = flow->source->targets;
  double total;
  const size_t rows = rows_without(flow, without, &total);
  *s = (solve_context){.training = training, .without = without, .intercept = intercept};
  s->problem = (scl_problem){
      .head = SCL_HEAD(scl_problem),
      .host = &scl_host_table,
      .rows = rows,
      .features = d,
      .targets = c,
      .task = training->task,
      .classes = training->classes,
      .dtype = flow->dtype,
      .has_kernel = flow->map != NULL && scl_map_has_kernel(flow->map),
      .log_scale = flow->map == NULL ? 0 : scl_map_log_scale(flow->map),
      .allowance = training->allowance,
      .parameters = flow->map == NULL ? 0 : scl_map_count(flow->map),
      .slots = flow->map != NULL && scl_instance_ability(solver, SCL_ABILITY_SPARSE_ROWS) != NULL
                   ? scl_map_slots(flow->map)
                   : 0,
      .intercept = intercept};
  scl_problem_set_verbs(&s->problem);
  if (s->problem.rows == 0 || d == 0 || c == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "nothing to learn from: %zu rows, %zu features, %zu targets", s->problem.rows,
                    d, c);
  if (!(total > 0))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0 outside fold %ld",
                    without + 1);
  return SCL_STATUS_OK;
}

scl_status scl_training_solve(scl_training *training, const scl_instance *solver, bool intercept,
                              long without, const double *values, size_t count, scl_fit *fits,
                              scl_error *error) {
  const size_t d = scl_flow_features(&training->flow), c = training->flow.source->targets,
               number = values == NULL ? 1 : count;
  solve_context s;
  SCL_TRY(scl_problem_open(&s, training, solver, intercept, without, error));
  memset(fits, 0, number * sizeof *fits);
  scl_solution *solutions = scl_allocate_zero(number * sizeof *solutions);
  scl_status status = solutions == NULL
                          ? scl_fail_memory(error, number * sizeof *solutions, "solutions")
                          : SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < number; k++) {
    status = scl_matrix_create(d, c, SCL_DTYPE_FLOAT64, &fits[k].coefficients, error);
    if (status == SCL_STATUS_OK)
      status = scl_matrix_create(1, c, SCL_DTYPE_FLOAT64, &fits[k].intercept, error);
    solutions[k] = (scl_solution){.head = SCL_HEAD(scl_solution),
                                  .gap = NAN,
                                  .residual = NAN,
                                  .tolerance = NAN,
                                  .score = NAN};
    solutions[k].coefficients = fits[k].coefficients.data;
    solutions[k].intercept = intercept ? fits[k].intercept.data : NULL;
    for (size_t j = 0; status == SCL_STATUS_OK && intercept && j < c; j++)
      solutions[k].intercept[j] = NAN;
  }
  if (status == SCL_STATUS_OK)
    status = scl_instance_prefix(
        solver, call_solver(&s.problem, solver, values, count, solutions, error), error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < number; k++)
    fits[k].solution = solutions[k];
  if (status == SCL_STATUS_OK) status = finish(&s.problem, &s, fits, number, error);
  for (size_t k = 0; status != SCL_STATUS_OK && k < number; k++)
    scl_fit_release(&fits[k]);
  scl_release(solutions);
  scl_problem_close(&s);
  return status;
}
