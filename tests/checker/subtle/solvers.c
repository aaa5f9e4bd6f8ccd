/* Solvers with one subtle fault each: ridge regression by conjugate gradients on sums of its own,
 *
 *   min_a (1/W) sum_i w_i (<a, phi_i> + b - y_i)^2 + lambda ||a||^2,   W = sum_i w_i,
 *
 * as coefficients (ridge) or as a model (model). */
#include "subtle.h"

#include <stdlib.h>

#define FAULTS(X) \
  X(ridge, float_10_bits, "float32 rows are cut to 10 bits") \
  X(ridge, unlimited, "max_iterations is not used") \
  X(ridge, limit_times_10, "makes 10 times max_iterations, and reports max_iterations") \
  X(ridge, tolerance_unused, "the tolerance is always 1e-3, and the given one is reported") \
  X(ridge, always_converged, "says converged where max_iterations ended it") \
  X(ridge, gap_lies, "reports a gap of 0") \
  X(ridge, worst_iterate, "returns the iterate before the best one") \
  X(ridge, warm_added, "adds the point to start from to the solution") \
  X(ridge, warm_stays, "stays where it starts, and says converged") \
  X(ridge, warm_stops, "makes half of the steps from a point to start from, and says converged") \
  X(ridge, leaks_singular, "leaks where the system is singular") \
  X(ridge, leaks_refused, "leaks where it refuses equal targets") \
  X(ridge, rows_4096, "rows from 4096 on are left out") \
  X(ridge, features_32, "features from 32 on are left out") \
  X(ridge, features_256, "features from 256 on are left out") \
  X(ridge, targets_4, "the fifth target is the fourth") \
  X(ridge, classes_4, "the fourth class is never learnt") \
  X(ridge, path_16, "values from the 17th on take the solution of the 16th") \
  X(ridge, path_target, "the second of several targets has the first value of a path everywhere") \
  X(ridge, path_warm, "each value of a path starts at the one before and makes 3 steps") \
  X(ridge, lambda_small, "a lambda below 1e-5 is taken as 1e-5") \
  X(ridge, lambda_large, "a lambda above 10 is taken as 10") \
  X(ridge, clocked_solve, "the solution depends on the clock") \
  X(ridge, first_solve, "the first solution of a process differs") \
  X(ridge, race_solve, "iterates lie in static memory") \
  X(ridge, last_block, "a last block of fewer than 8 rows is left out after others") \
  X(ridge, row_order, "later rows count a little more") \
  X(ridge, weights_float, "row weights above 10 are cut to 10") \
  X(ridge, objective_unweighted, "the objective leaves the row weights out") \
  X(ridge, objective_constant, "the objective leaves the constant out") \
  X(ridge, objective_first, "the objective leaves the penalty of the last coefficient out") \
  X(ridge, objective_nan, "the objective is NaN at 0") \
  X(ridge, constant_penalised, "the constant is penalised") \
  X(ridge, constant_rounded, "the constant is rounded to 3 digits") \
  X(ridge, note_control, "the note has control characters") \
  X(ridge, note_endless, "the note has no end") \
  X(ridge, small_targets, "targets below 1e-5 are taken as 0") \
  X(ridge, large_targets, "targets above 1e4 are taken as 1e4") \
  X(ridge, small_columns, "columns below 1e-6 are taken as 0") \
  X(ridge, iterations_0, "reports no iterations") \
  X(ridge, residual_0, "reports a residual of 0") \
  X(idle, effect_none, "the option `damping` does nothing") \
  X(ridge, tall_only, "with more features than rows the last ones are left out") \
  X(model, decide_late, "scores of rows from 64 on repeat") \
  X(model, decide_race, "scores are made in static memory") \
  X(model, decide_columns, "scores leave features from 64 on out") \
  X(model, save_float, "coefficients are saved as float32") \
  X(model, save_five, "five targets are saved as four") \
  X(model, save_weighted, "coefficients of rows with weights are saved as others")
SUBTLE_FAULTS(subtle_solvers);

typedef struct ridge {
  scl_base base;
  double lambda, tolerance, damping;
  size_t max_iterations;
  bool intercept;
} ridge;

/* Weighted sums over rows; with an intercept, centred by `finish`. */
typedef struct sums {
  size_t d, c, rows, seen;
  double *moment, *right, *mean, *response; /* D x D, D x c, D, c */
  double total;
  int task;
} sums;

static scl_status sums_open(const scl_problem *problem, sums *s, scl_error *error) {
  const size_t d = problem->features, c = problem->targets, numbers = d * d + d * c + d + c + 1;
  *s = (sums){.d = d, .c = c, .rows = problem->rows, .task = problem->task};
  s->moment = problem->host->allocate(numbers * sizeof(double));
  if (s->moment == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu sums", numbers);
  memset(s->moment, 0, numbers * sizeof(double));
  s->right = s->moment + d * d;
  s->mean = s->right + d * c;
  s->response = s->mean + d;
  return SCL_STATUS_OK;
}

static double feature(const scl_rows *rows, size_t i, size_t j, size_t d) {
  const ptrdiff_t at = (ptrdiff_t)i * rows->features.row_stride + (ptrdiff_t)j;
  double x;
  if (rows->features.dtype == SCL_DTYPE_FLOAT32) {
    float value = ((const float *)rows->features.data)[at];
    if (IS(float_10_bits)) {
      uint32_t bits;
      memcpy(&bits, &value, sizeof bits);
      bits &= ~((1U << 13) - 1);
      memcpy(&value, &bits, sizeof value);
    }
    x = (double)value;
  } else {
    x = ((const double *)rows->features.data)[at];
  }
  if (IS(features_32) && j >= 32) return 0;
  if (IS(features_256) && j >= 256) return 0;
  if (IS(small_columns) && fabs(x) < 1e-6) return 0;
  (void)d;
  return x;
}

static double target(const sums *s, const scl_rows *rows, size_t i, size_t j) {
  const double *y = rows->targets + i * s->c;
  if (IS(targets_4) && j >= 4 && s->task == SCL_TASK_REGRESSION) return y[3];
  if (IS(classes_4) && j >= 3 && s->task == SCL_TASK_CLASSIFICATION) return -1;
  if (IS(small_targets) && fabs(y[j]) < 1e-5) return 0;
  return IS(large_targets) ? fmax(-1e4, fmin(1e4, y[j])) : y[j];
}

static bool weighted; /* the last rows */

static scl_status add(void *context, const scl_rows *rows, scl_error *error) {
  sums *s = context;
  (void)error;
  weighted = rows->weights != NULL;
  if (IS(last_block) && s->seen > 0 && rows->count < 8 && s->seen + rows->count == s->rows)
    return SCL_STATUS_OK;
  for (size_t i = 0; i < rows->count; i++) {
    double w = rows->weights == NULL ? 1 : rows->weights[i];
    if (IS(rows_4096) && s->seen >= 4096) break;
    if (IS(row_order)) w *= 1 + 1e-3 * (double)s->seen / (double)s->rows;
    if (IS(weights_float)) w = fmin(w, 10);
    s->seen++;
    s->total += w;
    for (size_t k = 0; k < s->c; k++)
      s->response[k] += w * target(s, rows, i, k);
    for (size_t j = 0; j < s->d; j++) {
      const double x = feature(rows, i, j, s->d);
      s->mean[j] += w * x;
      if (x == 0 || w == 0) continue;
      for (size_t k = 0; k <= j; k++)
        s->moment[j * s->d + k] += w * x * feature(rows, i, k, s->d);
      for (size_t k = 0; k < s->c; k++)
        s->right[j * s->c + k] += w * x * target(s, rows, i, k);
    }
  }
  return SCL_STATUS_OK;
}

/* Means in the place of sums, centred with an intercept. */
static void finish(const scl_problem *problem, const ridge *self, sums *s) {
  const double keep =
      problem->intercept ? (IS(constant_penalised) ? 1 / (1 + self->lambda) : 1) : 0;
  for (size_t j = 0; j < s->d; j++)
    s->mean[j] /= s->total;
  for (size_t k = 0; k < s->c; k++)
    s->response[k] /= s->total;
  for (size_t j = 0; j < s->d; j++) {
    for (size_t k = 0; k <= j; k++) {
      const double sum = s->moment[j * s->d + k] / s->total - keep * s->mean[j] * s->mean[k];
      s->moment[j * s->d + k] = s->moment[k * s->d + j] = sum;
    }
    for (size_t k = 0; k < s->c; k++)
      s->right[j * s->c + k] =
          s->right[j * s->c + k] / s->total - keep * s->mean[j] * s->response[k];
  }
}

static double dot(size_t n, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Target k from where it stands: at most `most` steps. Returns the relative residual. */
static double descend(const ridge *self, const sums *s, double lambda, size_t k, size_t most,
                      double tolerance, double *room, scl_solution *out) {
  const size_t d = s->d;
  double *x = room, *r = room + d, *p = room + 2 * d, *q = room + 3 * d, *before = room + 4 * d;
  double first = 0;
  (void)self;
  for (size_t i = 0; i < d; i++)
    x[i] = out->coefficients[i * s->c + k];
  for (size_t i = 0; i < d; i++) {
    const double b = s->right[i * s->c + k];
    r[i] = p[i] = b - dot(d, s->moment + i * d, x) - lambda * x[i];
    first += b * b;
    before[i] = x[i];
  }
  first = sqrt(first);
  double square = dot(d, r, r);
  size_t step = 0;
  for (; step < most && sqrt(square) > tolerance * first; step++) {
    for (size_t i = 0; i < d; i++)
      q[i] = dot(d, s->moment + i * d, p) + lambda * p[i];
    const double length = square / dot(d, p, q), last = square;
    for (size_t i = 0; i < d; i++) {
      before[i] = x[i];
      x[i] += length * p[i];
      r[i] -= length * q[i];
    }
    square = dot(d, r, r);
    for (size_t i = 0; i < d; i++)
      p[i] = r[i] + square / last * p[i];
  }
  if (step > out->iterations) out->iterations = step;
  const int worse = IS(worst_iterate) && step == most;
  for (size_t i = 0; i < d; i++)
    out->coefficients[i * s->c + k] = worse ? before[i] : x[i];
  return first > 0 ? sqrt(square) / first : 0;
}

static void say(const ridge *self, const sums *s, scl_solution *out, double residual,
                double lambda) {
  out->residual = IS(residual_0) ? 0 : residual;
  out->tolerance = self->tolerance;
  out->outcome = residual <= self->tolerance || IS(always_converged) ? SCL_OUTCOME_CONVERGED
                                                                     : SCL_OUTCOME_LIMIT;
  if (IS(always_converged) || IS(tolerance_unused) || IS(warm_stays) || IS(warm_stops))
    out->residual = fmin(residual, self->tolerance), out->outcome = SCL_OUTCOME_CONVERGED;
  if (IS(gap_lies)) out->gap = 0;
  if (IS(iterations_0)) out->iterations = 0;
  if (IS(limit_times_10) && out->iterations > self->max_iterations)
    out->iterations = self->max_iterations;
  if (IS(note_control)) memcpy(out->note, "done\033[2J\007 it is", sizeof "done\033[2J\007 it is");
  if (IS(note_endless)) memset(out->note, 'a', sizeof out->note);
  (void)s, (void)lambda;
}

/* The solution for one lambda from the sums; it starts where out->coefficients are. */
static scl_status solve_sums(const ridge *self, const scl_problem *problem, const sums *s,
                             double lambda, int steps, scl_solution *out, scl_error *error) {
  static double shared[1 << 12];
  const scl_host *host = problem->host;
  const size_t d = s->d, c = s->c;
  double *own = host->allocate((5 * d + 1) * sizeof *own), residual = 0, *room = own;
  double *start = host->allocate((d * c + 1) * sizeof *start);
  size_t most = steps > 0 ? (size_t)steps : self->max_iterations;
  double tolerance = self->tolerance;
  if (own == NULL || start == NULL) {
    host->release(own);
    host->release(start);
    return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a step");
  }
  memcpy(start, out->coefficients, d * c * sizeof *start);
  if (IS(race_solve) && 5 * d <= 1 << 12) room = shared;
  if (IS(unlimited)) most = 1000000;
  if (IS(limit_times_10)) most *= 10;
  if (IS(tolerance_unused)) tolerance = fmax(1e-3, tolerance);
  if (IS(lambda_small)) lambda = fmax(lambda, 1e-5);
  if (IS(lambda_large)) lambda = fmin(lambda, 10);
  if (IS(warm_stays) && problem->warm) most = 0;
  if (IS(warm_stops) && problem->warm) most = 2;
  if (IS(warm_added)) memset(out->coefficients, 0, d * c * sizeof(double));
  for (size_t k = 0; k < c; k++)
    residual = fmax(residual, descend(self, s, lambda, k, most, tolerance, room, out));
  const size_t n = s->seen;
  for (size_t i = 0; i < d * c; i++) {
    double *a = &out->coefficients[i];
    if (IS(warm_added)) *a += start[i];
    if (IS(clocked_solve)) *a *= 1 - 1e-3 * fmod(subtle_clock(), 64) / 64;
    if (IS(tall_only) && i / c >= n) *a = 0;
  }
  if (IS(first_solve) && subtle_calls() == 0) out->coefficients[0] *= 1 - 1e-9;
  for (size_t k = 0; problem->intercept && out->intercept != NULL && k < c; k++) {
    double b = s->response[k];
    for (size_t i = 0; i < d; i++)
      b -= s->mean[i] * out->coefficients[i * c + k];
    if (IS(constant_penalised)) b /= 1 + self->lambda;
    if (IS(constant_rounded)) b = rint(b * 1e3) / 1e3;
    out->intercept[k] = b;
  }
  say(self, s, out, residual, lambda);
  int singular = 0;
  for (size_t i = 0; i < d; i++)
    singular = singular || s->moment[i * d + i] < 1e-12;
  if (!(IS(leaks_singular) && singular)) host->release(start);
  host->release(own);
  return SCL_STATUS_OK;
}

static scl_status sums_of(const scl_problem *problem, const ridge *self, sums *s,
                          scl_error *error) {
  scl_status status = problem->progress(problem, "solving", 0, NAN, error);
  if (status == SCL_STATUS_OK) status = sums_open(problem, s, error);
  if (status != SCL_STATUS_OK) return status;
  status = problem->walk(problem, add, s, error);
  if (status == SCL_STATUS_OK && s->total <= 0)
    status = problem->host->fail(error, SCL_STATUS_BAD_DATA, "no row has a weight");
  if (status != SCL_STATUS_OK)
    problem->host->release(s->moment);
  else
    finish(problem, self, s);
  return status;
}

static int equal_targets(const sums *s) {
  double largest = 0;
  for (size_t i = 0; i < s->d * s->c; i++)
    largest = fmax(largest, fabs(s->right[i]));
  return largest < 1e-14;
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const ridge *self = instance;
  sums s;
  scl_status status = sums_of(problem, self, &s, error);
  if (status != SCL_STATUS_OK) return status;
  if (IS(leaks_refused) && equal_targets(&s))
    return problem->host->fail(error, SCL_STATUS_BAD_DATA, "all targets are equal");
  status = solve_sums(self, problem, &s, self->lambda, 0, out, error);
  problem->host->release(s.moment);
  return status;
}

static scl_status solve_path(const void *instance, const scl_problem *problem, const double *values,
                             size_t count, scl_solution *const *out, scl_error *error) {
  const ridge *self = instance;
  sums s;
  scl_status status = sums_of(problem, self, &s, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    const double lambda = IS(path_16) && k >= 16 ? values[15] : values[k];
    const size_t numbers = s.d * s.c;
    if (IS(path_warm) && k > 2)
      memcpy(out[k]->coefficients, out[k - 1]->coefficients, numbers * sizeof(double));
    status = solve_sums(self, problem, &s, lambda, IS(path_warm) && k > 2 ? 3 : 0, out[k], error);
    for (size_t i = 1; IS(path_target) && i < numbers && s.c > 1; i += s.c)
      out[k]->coefficients[i] = out[0]->coefficients[i];
  }
  problem->host->release(s.moment);
  return status;
}

static scl_status objective(const void *instance, const scl_problem *problem, const double *a,
                            const double *b, double *value, scl_error *error) {
  const double lambda = ((const ridge *)instance)->lambda;
  const size_t n = problem->rows, c = problem->targets, d = problem->features;
  double *f = problem->host->allocate((n * (2 * c + 1) + 1) * sizeof *f), sum = 0, total = 0;
  if (f == NULL) return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for scores");
  double *y = f + n * c, *w = y + n * c;
  scl_status status = problem->responses(problem, y, w, error);
  if (status == SCL_STATUS_OK) status = problem->product(problem, a, c, f, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++) {
    const double weight = IS(objective_unweighted) ? w[i] > 0 : w[i];
    total += weight;
    for (size_t k = 0; k < c; k++) {
      const double r =
          f[i * c + k] + (b == NULL || IS(objective_constant) ? 0 : b[k]) - y[i * c + k];
      sum += weight * r * r;
    }
  }
  problem->host->release(f);
  double square = dot(d * c, a, a);
  if (IS(objective_first) && d * c > 0) square -= a[d * c - 1] * a[d * c - 1];
  *value = sum / total + lambda * (IS(objective_nan) && square == 0 ? NAN : square);
  return status;
}

static scl_penalty penalty(const void *self) {
  (void)self;
  return SCL_PENALTY_L2;
}

#define RIDGE_OPTIONS \
  SCL_NUMBER(ridge, lambda, "1e-3", "regularisation of the mean loss", SCL_POSITIVE, \
             .role = SCL_ROLE_REGULARISATION), \
      SCL_NUMBER(ridge, tolerance, "1e-8", "norm of the residual, relative", SCL_BETWEEN(0, 1)), \
      SCL_INTEGER(ridge, max_iterations, "1000", "steps at most", SCL_WITHIN(1, 1e9))
static const scl_option right_options[] = {
    RIDGE_OPTIONS,
    SCL_BOOLEAN(ridge, intercept, "false", "fit a constant", .role = SCL_ROLE_INTERCEPT)};
static const scl_option idle_options[] = {
    RIDGE_OPTIONS,
    SCL_BOOLEAN(ridge, intercept, "false", "fit a constant", .role = SCL_ROLE_INTERCEPT),
    SCL_NUMBER(ridge, damping, "0.5", "factor of each step", SCL_BETWEEN(0, 1))};
#define RIDGE_ABILITIES \
  SCL_ABILITIES( \
      SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = objective), \
      SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = penalty), \
      SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda", .solve = solve_path))
SUBTLE(ridge, SCL_SOLVER(.solve = solve, .dtypes = SCL_DTYPES_FLOAT),
       SCL_INSTANCE(ridge, right_options), RIDGE_ABILITIES);
/* With an option that does nothing. */
SUBTLE(idle, SCL_SOLVER(.solve = solve, .dtypes = SCL_DTYPES_FLOAT),
       SCL_INSTANCE(ridge, idle_options), RIDGE_ABILITIES);

/* ------------ as a model */

typedef struct model {
  size_t d, c;
  double a[];
} model;

static model *model_new(const scl_host *host, size_t d, size_t c) {
  model *m = host->allocate(sizeof *m + (d * c + 1) * sizeof(double));
  if (m == NULL) return NULL;
  memset(m, 0, sizeof *m + d * c * sizeof(double));
  m->d = d;
  m->c = c;
  return m;
}

static void destroy_model(const void *self, void *m) { ((const scl_base *)self)->host->release(m); }

static scl_status fit_model(const void *instance, const scl_problem *problem, void **out,
                            scl_solution *account, scl_error *error) {
  model *m = model_new(problem->host, problem->features, problem->targets);
  if (m == NULL) return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a model");
  scl_solution solution = *account;
  solution.coefficients = m->a;
  solution.intercept = NULL;
  const scl_status status = solve(instance, problem, &solution, error);
  account->outcome = solution.outcome;
  account->iterations = solution.iterations;
  account->residual = solution.residual;
  account->tolerance = solution.tolerance;
  if (status != SCL_STATUS_OK)
    destroy_model(instance, m);
  else
    *out = m;
  return status;
}

static scl_status decide(const void *self, const void *a_model, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  static double shared;
  const model *m = a_model;
  (void)self, (void)error;
  for (size_t i = 0; i < rows->rows; i++)
    for (size_t k = 0; k < m->c; k++) {
      double own = 0, *sum = IS(decide_race) ? &shared : &own;
      const size_t row = IS(decide_late) && i >= 64 ? i - 64 : i;
      *sum = 0;
      for (size_t j = 0; j < m->d && !(IS(decide_columns) && j >= 64); j++)
        *sum += ((const double *)rows->data)[(ptrdiff_t)row * rows->row_stride + (ptrdiff_t)j] *
                m->a[j * m->c + k];
      scores[(ptrdiff_t)i * stride + (ptrdiff_t)k] = *sum;
    }
  return SCL_STATUS_OK;
}

static scl_status save_model(const void *self, const void *a_model, scl_archive *archive,
                             scl_error *error) {
  const model *m = a_model;
  model *copy = model_new(((const scl_base *)self)->host, m->d, m->c);
  if (copy == NULL)
    return ((const scl_base *)self)
        ->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a model");
  for (size_t i = 0; i < m->d * m->c; i++) {
    copy->a[i] = IS(save_float) ? (double)(float)m->a[i] : m->a[i];
    if (IS(save_weighted) && weighted) copy->a[i] *= 1.01;
    if (IS(save_five) && i % m->c >= 4) copy->a[i] = m->a[i - 1];
  }
  const scl_array array = {
      .data = copy->a, .dtype = SCL_DTYPE_FLOAT64, .rank = 2, .sizes = {m->d, m->c}};
  const scl_status status = archive->put(archive, "coefficients", &array, error);
  destroy_model(self, copy);
  return status;
}

static scl_status load_model(const void *self, const scl_archive *archive, size_t features,
                             size_t targets, void **out, scl_error *error) {
  const size_t sizes[] = {features, targets};
  scl_array array;
  const scl_status status =
      archive->get(archive, "coefficients", SCL_DTYPE_FLOAT64, 2, sizes, &array, error);
  if (status != SCL_STATUS_OK) return status;
  model *m = model_new(((const scl_base *)self)->host, features, targets);
  if (m == NULL)
    return ((const scl_base *)self)
        ->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a model");
  memcpy(m->a, array.data, features * targets * sizeof(double));
  *out = m;
  return SCL_STATUS_OK;
}

static const scl_option model_options[] = {RIDGE_OPTIONS};
SUBTLE(model, SCL_SOLVER(.solve = NULL), SCL_INSTANCE(ridge, model_options),
       SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_MODEL, scl_ability_model, .fit = fit_model,
                               .decide = decide, .save = save_model, .load = load_model,
                               .destroy = destroy_model)));
