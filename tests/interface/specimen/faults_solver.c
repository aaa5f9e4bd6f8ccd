/* Right solvers in the plainest form, and wrong slots for them, for "put".
 *
 * descent, centred (with an unpenalised constant) and guess (with an estimate of its risk, and that
 * is wrong): ridge regression by conjugate gradients,
 *
 *   min_a (1/W) sum_i w_i (<a, phi_i> - y_i)^2 + lambda ||a||^2,   W = sum_i w_i,
 *
 * so that (M/W + lambda I) a = r/W with M = Phi'W Phi, r = Phi'W y. */
#include "faults_solver.h"

#include <threads.h>

static scl_status sums_open(const scl_problem *problem, sums *s, scl_error *error) {
  const size_t d = problem->features, c = problem->targets, numbers = d * (d + c);
  *s = (sums){.d = d, .c = c, .moment = problem->host->allocate((numbers + 1) * sizeof(double))};
  if (s->moment == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu sums",
                               numbers);
  memset(s->moment, 0, numbers * sizeof(double));
  s->right = s->moment + d * d;
  return SCL_STATUS_OK;
}

/* One row more. */
static void sums_add(sums *s, const double *phi, const double *y, double weight) {
  for (size_t i = 0; i < s->d; i++) {
    for (size_t j = 0; j < s->d; j++)
      s->moment[i * s->d + j] += weight * phi[i] * phi[j];
    for (size_t j = 0; j < s->c; j++)
      s->right[i * s->c + j] += weight * phi[i] * y[j];
  }
  s->total += weight;
}

static const double *row_of(const scl_rows *rows, size_t i) {
  return (const double *)rows->features.data + (ptrdiff_t)i * rows->features.row_stride;
}
static double weight_of(const scl_rows *rows, size_t i) {
  return rows->weights == NULL ? 1 : rows->weights[i];
}

scl_status sums_visit(void *context, const scl_rows *rows, scl_error *error) {
  sums *s = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++)
    sums_add(s, row_of(rows, i), rows->targets + i * s->c, weight_of(rows, i));
  return SCL_STATUS_OK;
}

/* The sums as the host makes them, centred with an intercept. */
static scl_status sums_normal(const scl_problem *problem, sums *s, scl_error *error) {
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  const scl_status status = problem->normal(problem, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  problem->host->symmetric->dense(normal.moment, s->moment, (ptrdiff_t)s->d);
  memcpy(s->right, normal.right, s->d * s->c * sizeof(double));
  s->total = normal.total;
  return SCL_STATUS_OK;
}

static double dot(size_t n, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Target j from 0, `room` of 4 D numbers; the residual relative to the right-hand side. */
static double descend(const ridge *self, const sums *s, double lambda, size_t j, double *room,
                      scl_solution *out) {
  const size_t d = s->d;
  double *x = room, *r = room + d, *p = room + 2 * d, *q = room + 3 * d;
  for (size_t i = 0; i < d; i++) {
    x[i] = 0;
    r[i] = p[i] = s->right[i * s->c + j] / s->total;
  }
  const double first = sqrt(dot(d, r, r));
  double square = first * first;
  size_t step = 0;
  for (; step < self->max_iterations && sqrt(square) > self->tolerance * first; step++) {
    for (size_t i = 0; i < d; i++)
      q[i] = dot(d, s->moment + i * d, p) / s->total + lambda * p[i];
    const double length = square / dot(d, p, q), before = square;
    for (size_t i = 0; i < d; i++) {
      x[i] += length * p[i];
      r[i] -= length * q[i];
    }
    square = dot(d, r, r);
    for (size_t i = 0; i < d; i++)
      p[i] = r[i] + square / before * p[i];
  }
  out->iterations = step > out->iterations ? step : out->iterations;
  for (size_t i = 0; i < d; i++)
    out->coefficients[i * s->c + j] = x[i];
  return first > 0 ? sqrt(square) / first : 0;
}

/* Solve all targets from the sums. */
static scl_status sums_solve(const ridge *self, const scl_problem *problem, const sums *s,
                             double lambda, scl_solution *out, scl_error *error) {
  const scl_host *host = problem->host;
  double *room = host->allocate((4 * s->d + 1) * sizeof *room);
  if (room == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a step");
  out->residual = 0;
  out->tolerance = self->tolerance;
  for (size_t j = 0; j < s->c; j++)
    out->residual = fmax(out->residual, descend(self, s, lambda, j, room, out));
  out->outcome = out->residual <= self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  host->release(room);
  return SCL_STATUS_OK;
}

static void sums_close(const scl_problem *problem, sums *s) { problem->host->release(s->moment); }

scl_status ridge_for(const ridge *self, const scl_problem *problem, double lambda,
                     scl_solution *out, scl_error *error) {
  sums s;
  scl_status status = problem->progress(problem, "solving", 0, NAN, error);
  if (status == SCL_STATUS_OK) status = sums_open(problem, &s, error);
  if (status != SCL_STATUS_OK) return status;
  status = sums_normal(problem, &s, error);
  if (status == SCL_STATUS_OK) status = sums_solve(self, problem, &s, lambda, out, error);
  sums_close(problem, &s);
  return status;
}

static scl_status ridge_solve(const void *self, const scl_problem *problem, scl_solution *out,
                              scl_error *error) {
  UPSET(problem->host, "descent.solve", error);
  const scl_status status = ridge_for(self, problem, ((const ridge *)self)->lambda, out, error);
  disturb("descent.solve", "scl_solution", out);
  return status;
}

scl_status ridge_walk(const ridge *self, const scl_problem *problem, scl_visit visit,
                      scl_solution *out, scl_error *error) {
  sums s;
  scl_status status = sums_open(problem, &s, error);
  if (status != SCL_STATUS_OK) return status;
  status = problem->walk(problem, visit, &s, error);
  if (status == SCL_STATUS_OK) status = sums_solve(self, problem, &s, self->lambda, out, error);
  sums_close(problem, &s);
  return status;
}

static scl_status ridge_path(const void *self, const scl_problem *problem, const double *values,
                             size_t count, scl_solution *const *out, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++)
    status = ridge_for(self, problem, values[k], out[k], error);
  return status;
}

/* (1/W) sum_i w_i ||f_i + b - y_i||^2 + lambda ||a||^2; room: n (2 c + 1) numbers. */
static scl_status objective_in(const scl_problem *problem, double lambda, const double *a,
                               const double *b, double *room, double *value, scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  double *f = room, *y = room + n * c, *w = room + 2 * n * c, total = 0, sum = 0;
  scl_status status = problem->responses(problem, y, w, error);
  if (status == SCL_STATUS_OK) status = problem->product(problem, a, c, f, error);
  for (size_t i = 0; i < n; i++)
    total += w[i];
  for (size_t i = 0; i < n * c; i++) {
    const double r = f[i] + (b == NULL ? 0 : b[i % c]) - y[i];
    sum += w[i / c] * r * r / total;
  }
  *value = sum + lambda * dot(problem->features * c, a, a);
  return status;
}

scl_status objective_for(const scl_problem *problem, double lambda, const double *a,
                         const double *b, double *value, scl_error *error) {
  const scl_host *host = problem->host;
  double *room = host->allocate(problem->rows * (2 * problem->targets + 1) * sizeof *room);
  if (room == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for scores");
  const scl_status status = objective_in(problem, lambda, a, b, room, value, error);
  host->release(room);
  return status;
}

static scl_status ridge_objective(const void *self, const scl_problem *problem, const double *a,
                                  const double *b, double *value, scl_error *error) {
  return objective_for(problem, ((const ridge *)self)->lambda, a, b, value, error);
}

static scl_penalty ridge_penalty(const void *self) {
  (void)self;
  return SCL_PENALTY_L2;
}

#define RIDGE_ABILITIES \
  SCL_ABILITIES( \
      SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = ridge_objective), \
      SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = ridge_penalty), \
      SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda", .solve = ridge_path))

static const scl_option plain_options[] = {RIDGE_OPTIONS};
SPECIMEN(descent, "ridge regression", SCL_SOLVER(.solve = ridge_solve),
         SCL_INSTANCE(ridge, plain_options), RIDGE_ABILITIES);

static const scl_option centred_options[] = {
    RIDGE_OPTIONS,
    SCL_BOOLEAN(ridge, intercept, "false", "fit a constant", .role = SCL_ROLE_INTERCEPT)};
SPECIMEN(centred, "ridge regression with a constant", SCL_SOLVER(.solve = ridge_solve),
         SCL_INSTANCE(ridge, centred_options), RIDGE_ABILITIES);

/* ------------ a leave-one-out error that is none */

/* Leaves no row out. */
static scl_status solve_and_guess(const void *self, const scl_problem *problem, scl_solution *out,
                                  scl_error *error) {
  double value = 0;
  scl_status status = ridge_solve(self, problem, out, error);
  if (status != SCL_STATUS_OK || ((const ridge *)self)->estimate == 0) return status;
  status = objective_for(problem, 0, out->coefficients, NULL, &value, error);
  out->score = value;
  return status;
}

static const scl_option guess_options[] = {
    RIDGE_OPTIONS, SCL_WORD(ridge, estimate, "none|loo", "none", "its own estimate of the risk",
                            .role = SCL_ROLE_ESTIMATE)};
SPECIMEN(guess, "ridge regression with an estimate", SCL_SOLVER(.solve = solve_and_guess),
         SCL_INSTANCE(ridge, guess_options));

/* ------------ wrong visits
 *
 * The slot `solve` from a walk that adds each row with this weight, w being its own. */
#define SOLVE_BY(visit) \
  static scl_status solve_##visit(const void *self, const scl_problem *problem, scl_solution *out, \
                                  scl_error *error) { \
    return ridge_walk(self, problem, visit, out, error); \
  }
#define WEIGHTED(name, weight) \
  static scl_status name(void *context, const scl_rows *rows, scl_error *error) { \
    sums *s = context; \
    (void)error; \
    for (size_t i = 0; i < rows->count; i++) { \
      const double w = weight_of(rows, i); \
      sums_add(s, row_of(rows, i), rows->targets + i * s->c, weight); \
    } \
    return SCL_STATUS_OK; \
  } \
  SOLVE_BY(name)

/* Not centred, and without progress. */
SOLVE_BY(sums_visit)
/* Each block of rows has the same say, however many rows it has. */
WEIGHTED(blocks_alike, w / (double)rows->count)
WEIGHTED(weights_clipped, fmin(w, 5))
/* Looks at no weights, but leaves rows of weight 0 out. */
WEIGHTED(weights_ignored, w > 0 ? 1 : 0)
/* Learns from rows of weight 0. */
WEIGHTED(weights_raised, fmax(w, 0.1))

/* Takes targets of -1 as 0. */
static scl_status targets_raised(void *context, const scl_rows *rows, scl_error *error) {
  sums *s = context;
  double y[16];
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    for (size_t j = 0; j < s->c; j++)
      y[j] = fmax(rows->targets[i * s->c + j], 0);
    sums_add(s, row_of(rows, i), y, weight_of(rows, i));
  }
  return SCL_STATUS_OK;
}

static scl_status solve_classes(const void *self, const scl_problem *problem, scl_solution *out,
                                scl_error *error) {
  return problem->task == SCL_TASK_REGRESSION
             ? ridge_solve(self, problem, out, error)
             : ridge_walk(self, problem, targets_raised, out, error);
}

/* Reads one number past the last row of a block. */
static scl_status reads_past(void *context, const scl_rows *rows, scl_error *error) {
  const volatile double *last = row_of(rows, rows->count - 1);
  (void)last[rows->features.cols];
  return sums_visit(context, rows, error);
}
SOLVE_BY(reads_past)

/* Centres the rows that it is shown in place. */
static scl_status writes_rows(void *context, const scl_rows *rows, scl_error *error) {
  double *x = (double *)(uintptr_t)rows->features.data;
  for (size_t i = 0; i < rows->count; i++)
    x[(ptrdiff_t)i * rows->features.row_stride] -= 1;
  return sums_visit(context, rows, error);
}
SOLVE_BY(writes_rows)

static scl_status copy_block(void *context, const scl_rows *rows, scl_error *error) {
  (void)error;
  memcpy(context, rows, sizeof *rows);
  return SCL_STATUS_OK;
}

/* Reads the rows of a block when its visit has ended. */
static scl_status solve_keeps_rows(const void *self, const scl_problem *problem, scl_solution *out,
                                   scl_error *error) {
  scl_rows last;
  scl_status status = problem->walk(problem, copy_block, &last, error);
  if (status == SCL_STATUS_OK) status = ridge_solve(self, problem, out, error);
  if (status == SCL_STATUS_OK) out->score = row_of(&last, 0)[0];
  return status;
}

typedef struct looking {
  const scl_problem *problem;
  sums *sums;
} looking;

static scl_status asks_inside(void *context, const scl_rows *rows, scl_error *error) {
  const looking *l = context;
  (void)l->problem->progress(l->problem, "solving", 0.5, NAN, NULL);
  return sums_visit(l->sums, rows, error);
}

/* ------------ wrong sums
 *
 * The slot `solve` from sums s that are opened and closed: `fill` makes them and sets the status,
 * `change` is done to them, `after` to the coefficients. */
#define SOLVE_SUMS(name, fill, change, after) \
  static scl_status name(const void *self, const scl_problem *problem, scl_solution *out, \
                         scl_error *error) { \
    sums s; \
    scl_status status = sums_open(problem, &s, error); \
    if (status != SCL_STATUS_OK) return status; \
    fill; \
    change; \
    if (status == SCL_STATUS_OK) \
      status = sums_solve(self, problem, &s, lambda_of(self), out, error); \
    after; \
    sums_close(problem, &s); \
    return status; \
  }
#define NORMAL status = sums_normal(problem, &s, error)
#define WALK status = problem->walk(problem, sums_visit, &s, error)
#define EACH_COEFFICIENT for (size_t i = 0; i < problem->features * problem->targets; i++)

/* Penalises its first coefficient ten times as much. */
SOLVE_SUMS(solve_penalises_first, NORMAL, s.moment[0] += 9 * lambda_of(self) * s.total, )
/* Divides weighted sums by the number of rows, not by their weight. */
SOLVE_SUMS(solve_unweighted, WALK, s.total = (double)problem->rows, )
/* Loses its sums where a walk fails. */
SOLVE_SUMS(solve_loses_sums, WALK, if (status != SCL_STATUS_OK) return status, )
/* Takes a walk that failed for one that ended; without rows, no division by 0. */
SOLVE_SUMS(solve_swallows_error, (void)problem->walk(problem, sums_visit, &s, error),
           s.total += 1e-300, )
/* Calls a verb from inside a visit. */
SOLVE_SUMS(solve_asks_inside, looking l; l.problem = problem;
           l.sums = &s, status = problem->walk(problem, asks_inside, &l, error), )
/* Divides by the length of each column. */
SOLVE_SUMS(solve_divides, NORMAL, ,
           EACH_COEFFICIENT out->coefficients[i] *=
           s.moment[i / s.c * (s.d + 1)] / s.moment[i / s.c * (s.d + 1)])

/* ------------ wrong before or after it solves
 *
 * The slot `solve` with statements before and after the right one. */
#define SOLVE(name, before, after) \
  static scl_status name(const void *self, const scl_problem *problem, scl_solution *out, \
                         scl_error *error) { \
    before; \
    const scl_status status = ridge_solve(self, problem, out, error); \
    after; \
    return status; \
  }

/* Its result depends on how often it was called. */
static size_t calls;
SOLVE(solve_counts_calls, , EACH_COEFFICIENT out->coefficients[i] *= 1 + 1e-12 * (double)calls;
      calls++)
/* Solves the first of several targets alone. */
SOLVE(solve_first_target, , EACH_COEFFICIENT if (i % problem->targets > 0) out->coefficients[i] = 0)
/* Keeps the memory of each solve. */
SOLVE(solve_leaks, (void)problem->host->allocate(1000), )
/* Returns a status of its own where a verb failed. */
SOLVE(solve_other_status, ,
      if (status != SCL_STATUS_OK) return problem->host->fail(error, SCL_STATUS_NUMERIC,
                                                              "it did not work out"))
/* Gives its progress in percent. */
SOLVE(solve_percent,
      const scl_status percent = problem->progress(problem, "solving", 50, NAN, error);
      if (percent != SCL_STATUS_OK) return percent, )
/* Does not look whether it got the memory that it asked for. */
SOLVE(solve_trusts_memory, double *room = problem->host->allocate(sizeof *room);
      *room = 1, problem->host->release(room))
/* Writes one number past its coefficients. */
SOLVE(solve_writes_past, out->coefficients[problem->features * problem->targets] = 0, )

static scl_status solve_idle(const void *self, const scl_problem *problem, scl_solution *out,
                             scl_error *error) {
  (void)self;
  out->outcome = SCL_OUTCOME_CONVERGED;
  return problem->progress(problem, "solving", 1, NAN, error);
}

/* Stops at a hundred times the tolerance that it was given, and says that it converged. */
static scl_status solve_loose(const void *self, const scl_problem *problem, scl_solution *out,
                              scl_error *error) {
  ridge loose = *(const ridge *)self;
  loose.tolerance = fmin(0.5, 5000 * loose.tolerance);
  const scl_status status = ridge_solve(&loose, problem, out, error);
  out->residual = out->tolerance = NAN;
  return status;
}

/* Ends after one step and says that it converged. */
static scl_status solve_one_step(const void *self, const scl_problem *problem, scl_solution *out,
                                 scl_error *error) {
  ridge once = *(const ridge *)self;
  once.max_iterations = 1;
  const scl_status status = ridge_solve(&once, problem, out, error);
  out->outcome = SCL_OUTCOME_CONVERGED;
  out->residual = NAN;
  return status;
}

/* Its regularisation is 1 over the option that has the role. */
static scl_status solve_inverse(const void *self, const scl_problem *problem, scl_solution *out,
                                scl_error *error) {
  return ridge_for(self, problem, 0.01 / lambda_of(self), out, error);
}

/* Goes on when problem.progress says that the user cancelled. */
static scl_status solve_swallows_cancel(const void *self, const scl_problem *problem,
                                        scl_solution *out, scl_error *error) {
  (void)problem->progress(problem, "solving", 0, NAN, NULL);
  return ridge_walk(self, problem, sums_visit, out, error);
}

/* Adds what it finds to the point that it starts from. */
static scl_status solve_from_start(const void *self, const scl_problem *problem, scl_solution *out,
                                   scl_error *error) {
  const size_t count = problem->features * problem->targets;
  double *start = problem->host->allocate((count + 1) * sizeof *start);
  if (start == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the start");
  memcpy(start, out->coefficients, count * sizeof *start);
  const scl_status status = ridge_solve(self, problem, out, error);
  for (size_t i = 0; i < count; i++)
    out->coefficients[i] += start[i];
  problem->host->release(start);
  return status;
}

enum { TASKS = 64 };

static scl_status note_thread(void *context, size_t index, scl_error *error) {
  thrd_t *met = context;
  (void)error;
  met[index] = thrd_current();
  (void)thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  return SCL_STATUS_OK;
}

/* Shrinks its coefficients by the number of threads that its tasks met. */
static scl_status solve_by_threads(const void *self, const scl_problem *problem, scl_solution *out,
                                   scl_error *error) {
  thrd_t met[TASKS];
  size_t threads = 0;
  scl_status status = problem->host->parallel(TASKS, note_thread, met, error);
  for (size_t i = 0; i < TASKS; i++) {
    size_t before = 0;
    while (before < i && !thrd_equal(met[before], met[i]))
      before++;
    threads += before == i;
  }
  if (status == SCL_STATUS_OK) status = ridge_solve(self, problem, out, error);
  for (size_t i = 0; i < problem->features * problem->targets; i++)
    out->coefficients[i] /= (double)threads;
  return status;
}

const fault faults_of_solvers[] = {
    FAULT(solve_sums_visit),      FAULT(solve_blocks_alike),   FAULT(solve_weights_clipped),
    FAULT(solve_weights_ignored), FAULT(solve_weights_raised), FAULT(solve_classes),
    FAULT(solve_reads_past),      FAULT(solve_writes_rows),    FAULT(solve_keeps_rows),
    FAULT(solve_penalises_first), FAULT(solve_unweighted),     FAULT(solve_loses_sums),
    FAULT(solve_swallows_error),  FAULT(solve_asks_inside),    FAULT(solve_divides),
    FAULT(solve_counts_calls),    FAULT(solve_first_target),   FAULT(solve_leaks),
    FAULT(solve_other_status),    FAULT(solve_percent),        FAULT(solve_trusts_memory),
    FAULT(solve_writes_past),     FAULT(solve_idle),           FAULT(solve_loose),
    FAULT(solve_one_step),        FAULT(solve_inverse),        FAULT(solve_swallows_cancel),
    FAULT(solve_from_start),      FAULT(solve_by_threads),     {NULL, NULL}};
