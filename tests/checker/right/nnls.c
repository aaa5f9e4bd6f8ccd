/* Coefficients of 0 or more, by coordinate descent on A = Phi'W Phi/N and r = Phi'W y/N:
 *
 *   min_{a >= 0, b} (1/2N) sum_i w_i (y_i - a'phi_i - b)^2 + (lambda/2) ||a||^2 */
#include <scullery/plugin.h>

typedef struct nnls {
  scl_base base;
  double lambda, tolerance;
  size_t max_iterations;
} nnls;

static const scl_option options[] = {
    SCL_NUMBER(nnls, lambda, "1e-3", "regularisation of the mean loss", SCL_POSITIVE,
               .role = SCL_ROLE_REGULARISATION),
    SCL_NUMBER(nnls, tolerance, "1e-8", "the residual that is wanted", SCL_BETWEEN(0, 1),
               .role = SCL_ROLE_TOLERANCE),
    SCL_INTEGER(nnls, max_iterations, "10000", "rounds at most", SCL_WITHIN(1, 1e9)),
    SCL_OPTION_INTERCEPT};

/* g = r - A a, and the largest violation of the conditions of optimality over the largest |r_j|. */
static double residual(const nnls *self, size_t d, const double *a, const double *r,
                       const double *x, double *g) {
  double worst = 0, size = 0;
  for (size_t j = 0; j < d; j++) {
    g[j] = r[j];
    for (size_t k = 0; k < d; k++)
      g[j] -= a[j * d + k] * x[k];
    const double left = g[j] - self->lambda * x[j];
    worst = fmax(worst, x[j] > 0 ? fabs(left) : left);
    size = fmax(size, fabs(r[j]));
  }
  return size > 0 ? worst / size : worst;
}

static void one_round(const nnls *self, size_t d, const double *a, double *x, double *g) {
  for (size_t j = 0; j < d; j++) {
    const double *column = a + j * d, before = x[j];
    x[j] = fmax(0, (g[j] + column[j] * before) / (column[j] + self->lambda));
    for (size_t k = 0; k < d; k++)
      g[k] -= (x[j] - before) * column[k];
  }
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const nnls *self = instance;
  const scl_host *host = problem->host;
  const size_t d = problem->features, c = problem->targets;
  scl_normal sums = {.head = SCL_HEAD(scl_normal)};
  double *a = host->scratch((d * d + 3 * d + 1) * sizeof *a), *r = a + d * d, *x = r + d,
         *g = x + d;
  if (problem->task != SCL_TASK_REGRESSION)
    return host->fail(error, SCL_STATUS_UNSUPPORTED, "is for numbers, and this is another task");
  if (a == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu features", d);
  scl_status status = problem->normal(problem, &sums, error);
  if (status != SCL_STATUS_OK) return status;
  host->symmetric->dense(sums.moment, a, (ptrdiff_t)d);
  for (size_t i = 0; i < d * d; i++)
    a[i] /= sums.total;
  out->residual = 0;
  out->iterations = 0;
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    for (size_t i = 0; i < d; i++) {
      r[i] = sums.right[i * c + j] / sums.total;
      x[i] = problem->warm ? fmax(0, out->coefficients[i * c + j]) : 0;
    }
    double left = residual(self, d, a, r, x, g);
    for (size_t k = 0;
         status == SCL_STATUS_OK && left > self->tolerance && k < self->max_iterations;
         k++, out->iterations++) {
      one_round(self, d, a, x, g);
      left = residual(self, d, a, r, x, g);
      status = problem->progress(problem, "descent", 0, NAN, error);
    }
    for (size_t i = 0; i < d; i++)
      out->coefficients[i * c + j] = x[i];
    out->residual = fmax(out->residual, left);
  }
  out->tolerance = self->tolerance;
  out->outcome = out->residual <= self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  return status;
}

static scl_penalty penalty(const void *instance) {
  (void)instance;
  return SCL_PENALTY_SIGNS;
}

const scl_plugin scullery_plugin = {
    .name = "nnls",
    .version = "1.0",
    .summary = "ridge regression with coefficients of 0 or more",
    .doc = "min (1/2N) sum_i w_i (y_i - a'phi_i - b)^2 + (lambda/2) ||a||^2 over a >= 0.",
    SCL_SOLVER(.solve = solve),
    SCL_INSTANCE(nnls, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = penalty))};
