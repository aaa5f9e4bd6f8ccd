/* What the broken solvers share: ridge regression by conjugate gradients,
 *
 *   min_a (1/W) sum_i w_i (<a, phi_i> - y_i)^2 + lambda ||a||^2,   W = sum_i w_i,
 *
 * so that (M/W + lambda I) a = r/W with M = Phi'W Phi, r = Phi'W y; all of it right. */
#ifndef BROKEN_SOLVER_H
#define BROKEN_SOLVER_H

#include <scullery/plugin.h>

typedef struct ridge {
  scl_base base;
  double lambda, tolerance;
  size_t max_iterations;
  bool intercept;
} ridge;

#define RIDGE_OPTIONS                                                                              \
  SCL_NUMBER(ridge, lambda, "1e-3", "regularisation of the mean loss", SCL_POSITIVE,               \
             .role = SCL_ROLE_REGULARISATION),                                                     \
      SCL_NUMBER(ridge, tolerance, "1e-8", "norm of the residual, relative", SCL_BETWEEN(0, 1)),   \
      SCL_INTEGER(ridge, max_iterations, "1000", "steps at most", SCL_WITHIN(1, 1e9))

/* Sums over rows. */
typedef struct sums {
  size_t d, c;
  double *moment, *right; /* D x D, D x c */
  double total;
} sums;

static inline scl_status sums_open(const scl_problem *problem, sums *s, scl_error *error) {
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
static inline void sums_add(sums *s, const double *phi, const double *y, double weight) {
  for (size_t i = 0; i < s->d; i++) {
    for (size_t j = 0; j < s->d; j++)
      s->moment[i * s->d + j] += weight * phi[i] * phi[j];
    for (size_t j = 0; j < s->c; j++)
      s->right[i * s->c + j] += weight * phi[i] * y[j];
  }
  s->total += weight;
}

static inline const double *row_of(const scl_rows *rows, size_t i) {
  return (const double *)rows->features.data + (ptrdiff_t)i * rows->features.row_stride;
}
static inline double weight_of(const scl_rows *rows, size_t i) {
  return rows->weights == NULL ? 1 : rows->weights[i];
}

/* A visit of float64 rows; its context is a sums. */
static inline scl_status sums_visit(void *context, const scl_rows *rows, scl_error *error) {
  sums *s = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++)
    sums_add(s, row_of(rows, i), rows->targets + i * s->c, weight_of(rows, i));
  return SCL_STATUS_OK;
}

/* The sums as the host makes them, centred with an intercept. */
static inline scl_status sums_normal(const scl_problem *problem, sums *s, scl_error *error) {
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  const scl_status status = problem->normal(problem, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  problem->host->symmetric->dense(normal.moment, s->moment, (ptrdiff_t)s->d);
  memcpy(s->right, normal.right, s->d * s->c * sizeof(double));
  s->total = normal.total;
  return SCL_STATUS_OK;
}

static inline double dot(size_t n, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Target j from 0, `room` of 4 D numbers; the residual relative to the right-hand side. */
static inline double descend(const ridge *self, const sums *s, double lambda, size_t j,
                             double *room, scl_solution *out) {
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
static inline scl_status sums_solve(const ridge *self, const scl_problem *problem, const sums *s,
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

static inline void sums_close(const scl_problem *problem, sums *s) {
  problem->host->release(s->moment);
}

/* The slots: from the host's sums, with progress told. */
static inline scl_status ridge_for(const ridge *self, const scl_problem *problem, double lambda,
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

static inline scl_status ridge_solve(const void *self, const scl_problem *problem,
                                     scl_solution *out, scl_error *error) {
  return ridge_for(self, problem, ((const ridge *)self)->lambda, out, error);
}

/* The same from a walk with this visit. */
static inline scl_status ridge_walk(const ridge *self, const scl_problem *problem, scl_visit visit,
                                    scl_solution *out, scl_error *error) {
  sums s;
  scl_status status = sums_open(problem, &s, error);
  if (status != SCL_STATUS_OK) return status;
  status = problem->walk(problem, visit, &s, error);
  if (status == SCL_STATUS_OK) status = sums_solve(self, problem, &s, self->lambda, out, error);
  sums_close(problem, &s);
  return status;
}

static inline scl_status ridge_path(const void *self, const scl_problem *problem,
                                    const double *values, size_t count, scl_solution *const *out,
                                    scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++)
    status = ridge_for(self, problem, values[k], out[k], error);
  return status;
}

/* (1/W) sum_i w_i ||f_i + b - y_i||^2 + lambda ||a||^2; room: n (2 c + 1) numbers. */
static inline scl_status objective_in(const scl_problem *problem, double lambda, const double *a,
                                      const double *b, double *room, double *value,
                                      scl_error *error) {
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

static inline scl_status objective_for(const scl_problem *problem, double lambda, const double *a,
                                       const double *b, double *value, scl_error *error) {
  const scl_host *host = problem->host;
  double *room = host->allocate(problem->rows * (2 * problem->targets + 1) * sizeof *room);
  if (room == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for scores");
  const scl_status status = objective_in(problem, lambda, a, b, room, value, error);
  host->release(room);
  return status;
}

static inline scl_status ridge_objective(const void *self, const scl_problem *problem,
                                         const double *a, const double *b, double *value,
                                         scl_error *error) {
  return objective_for(problem, ((const ridge *)self)->lambda, a, b, value, error);
}

/* The descriptor, from the array of options, abilities or none, and the members of the table:
 *   BROKEN_SOLVER(options, SCL_ABILITIES(...), .solve = solve) */
#define BROKEN_SOLVER(options_, abilities_, ...)                                                   \
  const scl_plugin scullery_plugin = {.name = "broken",                                            \
                                      .summary = "A solver that is wrong",                         \
                                      .doc = "min mean (f - y)^2 + lambda ||a||^2, but for what "  \
                                             "is wrong with it.",                                  \
                                      .version = "1.0",                                            \
                                      SCL_SOLVER(__VA_ARGS__),                                     \
                                      SCL_INSTANCE(ridge, options_),                               \
                                      abilities_}
#define NO_ABILITIES .abilities = NULL

#endif
