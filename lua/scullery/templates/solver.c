/* Ridge regression by conjugate gradients (Hestenes and Stiefel 1952):
 *
 *   minimise   F(a, b) = (1/N) sum_i w_i ||y_i - a'phi_i - b||^2 + lambda ||a||^2
 *
 * over a (D x c) and the intercept b; phi_i are the D features of row i, y_i its c targets, w_i its
 * weight, N the sum of the weights. With rows centred where there is an intercept, each target has
 *
 *   A a = r,   A = Phi'W Phi/N + lambda I,   r = Phi'W y/N        (residual: ||r - A a||/||r||) */
#include <scullery/plugin.h>
#include <stdio.h>

typedef struct conjugate {
  scl_base base; /* what the host offers, and the options as they came */
  double lambda, tolerance;
  size_t max_iterations;
} conjugate;

/* Roles tell the host what options are for: regularisation, and whether a constant is wanted. */
static const scl_option options[] = {
    SCL_NUMBER(conjugate, lambda, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE,
               .role = SCL_ROLE_REGULARISATION),
    SCL_NUMBER(conjugate, tolerance, "1e-8", "the residual that is wanted", SCL_BETWEEN(0, 1)),
    SCL_INTEGER(conjugate, max_iterations, "1000", "products with A at most", SCL_WITHIN(1, 1e9)),
    SCL_OPTION_INTERCEPT};

static double dot(size_t count, const double *x, const double *y) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += x[i] * y[i];
  return sum;
}

/* out = A x */
static scl_status multiply(const conjugate *self, const scl_problem *problem,
                           const scl_normal *normal, const double *x, double *out,
                           scl_error *error) {
  const scl_status status = problem->host->symmetric->multiply(normal->moment, x, 1, out, error);
  for (size_t i = 0; i < problem->features; i++)
    out[i] = out[i] / normal->total + self->lambda * x[i];
  return status;
}

/* One target: a from 0; rest = r - A a and way, the next direction, are kept up. *left: the
 * residual, computed anew from a. Without progress for 100 steps, only rounding is left. */
static scl_status solve_target(const conjugate *self, const scl_problem *problem,
                               const scl_normal *normal, const double *right, double *a,
                               double *rest, double *way, double *image, double *steps,
                               double *left, scl_error *error) {
  const size_t d = problem->features;
  const double size = dot(d, right, right), wanted = self->tolerance * self->tolerance * size;
  double square = size, least = size;
  memset(a, 0, d * sizeof *a);
  memcpy(rest, right, d * sizeof *rest);
  memcpy(way, right, d * sizeof *way);
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0, best = 0; square > wanted && k < self->max_iterations && k < best + 100; k++) {
    if ((status = multiply(self, problem, normal, way, image, error)) != SCL_STATUS_OK) break;
    const double step = square / dot(d, way, image), before = square;
    for (size_t i = 0; i < d; i++) {
      a[i] += step * way[i];
      rest[i] -= step * image[i];
    }
    square = dot(d, rest, rest);
    for (size_t i = 0; i < d; i++)
      way[i] = rest[i] + square / before * way[i];
    if (square < least) least = square, best = k;
    *steps += 1;
    if ((status = problem->progress(problem, "conjugate gradients",
                                    (double)k / (double)self->max_iterations, square, error)) !=
        SCL_STATUS_OK)
      break;
  }
  if (status == SCL_STATUS_OK) status = multiply(self, problem, normal, a, image, error);
  for (size_t i = 0; i < d; i++)
    rest[i] = right[i] - image[i];
  *left = size > 0 ? sqrt(dot(d, rest, rest) / size) : 0;
  return status;
}

/* The intercept stays NaN: the host computes mean y - mean phi a. */
static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const conjugate *self = instance;
  const scl_host *host = problem->host;
  const size_t d = problem->features, c = problem->targets;
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  double *memory = host->scratch(5 * d * sizeof *memory), steps = 0, left = 0;
  if (memory == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu", d);
  scl_status status = problem->normal(problem, &normal, error); /* one pass over the rows */
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    double *right = memory, *a = memory + d;
    for (size_t i = 0; i < d; i++)
      right[i] = normal.right[i * c + j] / normal.total;
    status = solve_target(self, problem, &normal, right, a, memory + 2 * d, memory + 3 * d,
                          memory + 4 * d, &steps, &left, error);
    for (size_t i = 0; i < d; i++)
      out->coefficients[i * c + j] = a[i];
    if (!(left <= out->residual)) out->residual = left;
  }
  out->iterations = (size_t)steps;
  out->tolerance = self->tolerance; /* "converged" only where the residual is within it */
  out->outcome = out->residual <= self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT)
    (void)snprintf(out->note, sizeof out->note, "the residual is %.1e, %.1e was wanted",
                   out->residual, out->tolerance);
  if (status == SCL_STATUS_OK && !isfinite(out->residual))
    return host->fail(error, SCL_STATUS_BAD_DATA, "sums over the rows are not finite, or 0");
  return status;
}

const scl_plugin scullery_plugin = {
    .name = "my_plugin",
    .summary = "Ridge regression by conjugate gradients on the normal equations",
    .doc = "Conjugate gradients (Hestenes and Stiefel 1952) on sums of one pass over the rows.",
    .definition = "objective(rows, a) = average(rows, function(r) return (r.f - r.y)^2 end)\n"
                  "  + lambda*dot(a, a)",
    SCL_SOLVER(.solve = solve),
    SCL_INSTANCE(conjugate, options),
    .version = "0.1"};
