/* Exact kernel ridge regression, the model that random features approach as their number grows:
 *
 *   min_{f, f0} (1/2n) sum_i w_i (f(x_i) + f0 - y_i)^2 + (lambda/2) ||f||_K^2,
 *       f = sum_i b_i K(x_i, .)
 *
 * so that (K + n lambda W^-1) b + f0 1 = y and, with an intercept, 1'b = 0 (Saunders, Gammerman and
 * Vovk 1998). K n x n between the rows, W the row weights w_i on a diagonal, n their sum, y n x c;
 * all targets share one Cholesky factorisation, n^3/3 operations on n^2/2 numbers. The residual is
 * measured on kernel values made anew, and refines the solution once where it is not small. */
#include "shared/expansion.h"
#include "shared/failure.h"
#include "shared/kernel_parts.h"

enum { KERNEL, LAMBDA, INTERCEPT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"kernel", SCL_FORM_PARTS, "kernel", "gaussian", 0, 0, 0, SCL_WIDTH_NONE,
     "the kernel on rows, as sc.kernel.gaussian{ gamma = 2 }"},
    {"lambda", SCL_FORM_NUMBER, NULL, "1e-6", 0, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "regularisation of the mean loss"},
    {"intercept", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE,
     "fit an unpenalised constant"},
};

enum { TILE = 512, STRIP = 256, MOST_TRIES = 12 };
static const double tolerance = 1e-8; /* relative residual of the linear system */

typedef struct kernel_ridge {
  const scl_host *host;
  const scl_symmetric_algebra *symmetric;
  const scl_dense_algebra *dense;
  kernel_parts kernel; /* one */
  double lambda;
  int intercept;
} kernel_ridge;

static void destroy(void *instance) {
  kernel_ridge *self = instance;
  const scl_host *host = self->host;
  parts_release(&self->kernel);
  host->release(self);
}

static scl_status check_kernel(const kernel_ridge *self, scl_error *error) {
  const scl_plugin *kernel = self->kernel.list[0].plugin;
  if (self->kernel.count > 1)
    return self->host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "option 'kernel' got %zu kernels; it takes one, as sc.kernel.sum{} of them",
        self->kernel.count);
  if (((const scl_kernel *)kernel->vtable)->spaces & SCL_BIT(SCL_SPACE_DENSE)) return SCL_STATUS_OK;
  return self->host->fail(error, SCL_STATUS_UNSUPPORTED, "kernel.%s is not defined on rows of data",
                          kernel->name);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  kernel_ridge *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (kernel_ridge){.host = host,
                         .symmetric = host->service(SCL_SERVICE_SYMMETRIC),
                         .dense = host->service(SCL_SERVICE_DENSE_ALGEBRA),
                         .kernel = {host, NULL, 0},
                         .lambda = values[LAMBDA].number,
                         .intercept = values[INTERCEPT].number != 0};
  scl_status status = parts_read(host, "kernel", &values[KERNEL], &self->kernel, error);
  if (status == SCL_STATUS_OK) status = check_kernel(self, error);
  if (status == SCL_STATUS_OK)
    *instance = self;
  else
    destroy(self);
  return status;
}

static scl_status kernel_values(const void *instance, const scl_parameters *u,
                                const scl_parameters *v, double *out, ptrdiff_t stride,
                                scl_error *error) {
  const kernel_ridge *self = instance;
  return part_gram(self->host, &self->kernel.list[0], u, v, out, stride, error);
}

static row_kernel row_kernel_of(const kernel_ridge *self) {
  return (row_kernel){self->host, self->dense, self, kernel_values};
}

static void end(const void *instance, void *model) {
  const scl_host *host = ((const kernel_ridge *)instance)->host;
  if (model == NULL) return;
  expansion_release(host, model);
  host->release(model);
}

static scl_status decide(const void *instance, const void *model, const scl_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const row_kernel kernel = row_kernel_of(instance);
  return expansion_decide(&kernel, model, rows, scores, stride, error);
}

/* ---------------------------------------------------------------- the system A = K + diag(shift)
 */

typedef struct linear_system {
  const kernel_ridge *self;
  const scl_problem *problem;
  row_set set; /* gives its x to the model */
  expansion *m;
  scl_symmetric *a;
  double *shift;    /* rows: n lambda / w_i + jitter */
  double *ones;     /* rows: A^-1 1, for the intercept */
  double *residual; /* rows x targets: y - f0 - A b */
  double *right;    /* 2 x targets */
  size_t strip;     /* the tasks' */
  failure *failed;
} linear_system;

static scl_parameters rows_at(const linear_system *s, size_t first, size_t most) {
  const size_t left = s->m->rows - first, d = s->m->cols;
  return expansion_batch(s->m->x + first * d, (ptrdiff_t)d, left < most ? left : most, d);
}

static int all_finite(const double *values, size_t rows, size_t cols) {
  double sum = 0;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      sum += 0 * values[i * TILE + j];
  return sum == 0;
}

static scl_status fill_tile(const linear_system *s, size_t i, size_t j, double *k,
                            scl_error *error) {
  const scl_parameters u = rows_at(s, i, TILE), v = rows_at(s, j, TILE);
  const scl_status status = kernel_values(s->self, &u, &v, k, TILE, error);
  if (status != SCL_STATUS_OK) return status;
  if (!all_finite(k, u.count, v.count))
    return s->self->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "kernel.%s gives a value that is not finite for a row of the data: standardize it",
        s->self->kernel.list[0].plugin->name);
  for (size_t r = 0; i == j && r < u.count; r++)
    k[r * TILE + r] += s->shift[i + r];
  s->self->symmetric->set(s->a, i, u.count, j, v.count, k, TILE);
  return SCL_STATUS_OK;
}

static void fill_task(void *context, size_t index) {
  const linear_system *s = context;
  const scl_host *host = s->self->host;
  scl_error error = {0};
  double *k = host->allocate(sizeof *k * TILE * TILE);
  const scl_status status = k == NULL ? host->fail(&error, SCL_STATUS_NO_MEMORY,
                                                   "not enough memory for a tile of kernel values")
                                      : fill_tile(s, s->strip, index * TILE, k, &error);
  failure_note(s->failed, status, &error);
  host->release(k);
}

static scl_status fill(linear_system *s, scl_error *error) {
  const size_t n = s->m->rows;
  failure failed;
  failure_begin(&failed);
  s->failed = &failed;
  for (s->strip = 0; s->strip < n && failed.status == SCL_STATUS_OK; s->strip += TILE) {
    const double done = (double)s->strip / (double)n;
    const scl_status status =
        s->problem->progress(s->problem, done * done / 2, "the kernel matrix", error);
    if (status != SCL_STATUS_OK) return status;
    s->self->host->parallel(s->strip / TILE + 1, fill_task, s);
  }
  return failure_end(&failed, error);
}

/* b (rows x c) and f0 from the right-hand side in b; `sums` (c) is what 1'b should be. */
static void solve_factored(const linear_system *s, double *b, const double *sums, double *f0) {
  const size_t n = s->m->rows, c = s->m->functions;
  double ones = 0;
  s->self->symmetric->solve(s->a, b, c);
  if (!s->self->intercept) return;
  for (size_t i = 0; i < n; i++)
    ones += s->ones[i];
  for (size_t j = 0; j < c; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
      sum += b[i * c + j];
    f0[j] = (sum - sums[j]) / ones;
    for (size_t i = 0; i < n; i++)
      b[i * c + j] -= f0[j] * s->ones[i];
  }
}

static void residual_task(void *context, size_t index) {
  const linear_system *s = context;
  const size_t first = index * STRIP, c = s->m->functions;
  const scl_parameters u = rows_at(s, first, STRIP);
  const row_kernel kernel = row_kernel_of(s->self);
  double *out = s->residual + first * c;
  scl_error error = {0};
  const scl_status status =
      expansion_values(&kernel, s->m, u.weights, u.stride, u.count, out, (ptrdiff_t)c, &error);
  failure_note(s->failed, status, &error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u.count * c; i++)
    out[i] = s->set.y[first * c + i] - out[i] - s->shift[first + i / c] * s->m->b[first * c + i];
}

/* The largest entry of y - f0 - A b, over the largest of y. */
static scl_status measure(linear_system *s, double *relative, scl_error *error) {
  const size_t count = s->m->rows * s->m->functions;
  double worst = 0, size = 0;
  failure failed;
  failure_begin(&failed);
  s->failed = &failed;
  s->self->host->parallel((s->m->rows + STRIP - 1) / STRIP, residual_task, s);
  for (size_t i = 0; failed.status == SCL_STATUS_OK && i < count; i++) {
    if (!(fabs(s->residual[i]) <= worst)) worst = fabs(s->residual[i]);
    if (fabs(s->set.y[i]) > size) size = fabs(s->set.y[i]);
  }
  *relative = size > 0 ? worst / size : worst;
  return failure_end(&failed, error);
}

/* One step of iterative refinement. */
static void refine(const linear_system *s) {
  const size_t n = s->m->rows, c = s->m->functions;
  double *sums = s->right, *f0 = s->right + c;
  for (size_t j = 0; j < c; j++) {
    sums[j] = f0[j] = 0;
    for (size_t i = 0; i < n; i++)
      sums[j] -= s->m->b[i * c + j];
  }
  solve_factored(s, s->residual, sums, f0);
  for (size_t j = 0; j < c; j++)
    s->m->f0[j] += f0[j];
  for (size_t i = 0; i < n * c; i++)
    s->m->b[i] += s->residual[i];
}

/* SCL_STATUS_NUMERIC where the matrix does not factor, and only there. */
static scl_status attempt(linear_system *s, double *relative, scl_error *error) {
  const size_t n = s->m->rows, c = s->m->functions;
  size_t pivot = 0;
  scl_status status = fill(s, error);
  if (status == SCL_STATUS_OK)
    status = s->problem->progress(s->problem, 0.5, "factoring the kernel matrix", error);
  if (status == SCL_STATUS_OK) status = s->self->symmetric->factor(s->a, &pivot, error);
  if (status != SCL_STATUS_OK) return status;
  memset(s->right, 0, c * sizeof *s->right);
  memcpy(s->m->b, s->set.y, n * c * sizeof *s->m->b);
  for (size_t i = 0; i < n; i++)
    s->ones[i] = 1;
  if (s->self->intercept) s->self->symmetric->solve(s->a, s->ones, 1);
  solve_factored(s, s->m->b, s->right, s->m->f0);
  status = measure(s, relative, error);
  if (status != SCL_STATUS_OK || !isfinite(*relative) || *relative <= 1e-3 * tolerance)
    return status;
  refine(s);
  return measure(s, relative, error);
}

/* The mean of A's diagonal without jitter. */
static scl_status mean_diagonal(const linear_system *s, double *mean, scl_error *error) {
  const size_t n = s->m->rows;
  const scl_parameters all = rows_at(s, 0, n);
  const scl_status status = part_diagonal(&s->self->kernel.list[0], &all, s->ones, error);
  double sum = 0;
  for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++)
    sum += s->ones[i] + s->shift[i];
  *mean = sum > 0 ? sum / (double)n : 1;
  return status;
}

/* The least jitter that makes the system solvable, from none. */
static scl_status solve_system(linear_system *s, scl_solution *out, scl_error *error) {
  const size_t n = s->m->rows;
  double unit = 1, jitter = 0;
  scl_status status = mean_diagonal(s, &unit, error);
  for (int tries = 0; status == SCL_STATUS_OK && tries < MOST_TRIES; tries++) {
    status = attempt(s, &out->residual, error);
    if (status != SCL_STATUS_OK && status != SCL_STATUS_NUMERIC) return status;
    const int solved = status == SCL_STATUS_OK && isfinite(out->residual);
    if (solved && (out->residual <= tolerance || tries + 3 >= MOST_TRIES)) {
      out->outcome = out->residual <= tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
      out->jitter = jitter;
      if (jitter > 0)
        (void)snprintf(
            out->note, sizeof out->note,
            "the kernel matrix is singular to working precision: %.1e was added to its diagonal",
            jitter);
      return SCL_STATUS_OK;
    }
    status = SCL_STATUS_OK;
    const double more = (tries == 0 ? 1e-12 : 9e-12 * pow(10, tries - 1)) * unit;
    for (size_t i = 0; i < n; i++)
      s->shift[i] += more;
    jitter += more;
  }
  if (status != SCL_STATUS_OK) return status;
  return s->self->host->fail(error, SCL_STATUS_NUMERIC,
                             "the kernel matrix of %zu rows stays singular even with %.1e on its "
                             "diagonal: give a larger lambda",
                             n, jitter);
}

/* ---------------------------------------------------------------- fitting */

static scl_status reserve(linear_system *s, scl_error *error) {
  const scl_host *host = s->self->host;
  const size_t n = s->m->rows, c = s->m->functions;
  if (s->self->symmetric->create(n, &s->a, NULL) != SCL_STATUS_OK)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "exact kernel ridge of %zu rows takes a matrix of %.1f GB, more memory than "
                      "there is: take fewer rows, or random features",
                      n, 4e-9 * (double)n * (double)n);
  s->shift = host->allocate(n * sizeof(double));
  s->ones = host->allocate(n * sizeof(double));
  s->residual = host->allocate(n * c * sizeof(double));
  s->right = host->allocate(2 * c * sizeof(double));
  if (s->shift == NULL || s->ones == NULL || s->residual == NULL || s->right == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for the residuals of %zu rows", n);
  return expansion_reserve(host, s->m, error);
}

static void set_shift(const linear_system *s) {
  double total = 0;
  for (size_t i = 0; i < s->m->rows; i++)
    total += s->set.weights[i];
  for (size_t i = 0; i < s->m->rows; i++)
    s->shift[i] = total / s->set.weights[i] * s->self->lambda;
}

static scl_status collect(linear_system *s, scl_error *error) {
  const scl_status status = rows_collect(s->problem, &s->set, error);
  if (status != SCL_STATUS_OK) return status;
  s->m->rows = s->set.rows;
  s->m->cols = s->set.cols;
  s->m->functions = s->set.targets;
  s->m->x = s->set.x;
  s->set.x = NULL;
  return SCL_STATUS_OK;
}

static void release(linear_system *s) {
  const scl_host *host = s->self->host;
  if (s->a != NULL) s->self->symmetric->destroy(s->a);
  rows_release(host, &s->set);
  host->release(s->shift);
  host->release(s->ones);
  host->release(s->residual);
  host->release(s->right);
}

static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  linear_system s = {.self = instance, .problem = problem};
  s.m = expansion_new(problem->host, sizeof *s.m, error);
  if (s.m == NULL) return SCL_STATUS_NO_MEMORY;
  scl_status status = collect(&s, error);
  if (status == SCL_STATUS_OK) status = reserve(&s, error);
  if (status == SCL_STATUS_OK) {
    set_shift(&s);
    status = solve_system(&s, out, error);
  }
  release(&s);
  if (status != SCL_STATUS_OK) {
    end(instance, s.m);
    return status;
  }
  out->tolerance = tolerance;
  out->iterations = 1;
  *model = s.m;
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- bytes */

static const char title[] = "kernel ridge 1";

static scl_status save(const void *instance, const void *model, scl_write write, void *context,
                       scl_error *error) {
  byte_writer w = {write, context, error, SCL_STATUS_OK};
  (void)instance;
  bytes_put_title(&w, title);
  expansion_put(&w, model);
  return w.status;
}

static scl_status load(const void *instance, scl_read read, void *context, void **model,
                       scl_error *error) {
  const scl_host *host = ((const kernel_ridge *)instance)->host;
  byte_reader r = {host, read, context, error, SCL_STATUS_OK};
  expansion *m = expansion_new(host, sizeof *m, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  bytes_expect_title(&r, title);
  expansion_get(&r, m);
  if (r.status == SCL_STATUS_OK)
    *model = m;
  else
    end(instance, m);
  return r.status;
}

#include "shared/model_solver.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "kernel_ridge",
    "1.0",
    "The Scullery authors",
    "Exact kernel ridge regression, for as many rows as a matrix of n^2/2 numbers allows",
    "min_f (1/2n) sum_i w_i (f(x_i) - y_i)^2 + (lambda/2) ||f||_K^2, f = sum_i b_i K(x_i, .), w_i "
    "the row weights and n their sum:\n"
    "(K + n lambda W^-1) b = y (Saunders, Gammerman and Vovk 1998). It is what ridge on random "
    "features of the same kernel tends\n"
    "to. Any kernel on rows, its width a number, \"scale\" or \"median\". Memory 4 n^2 bytes, "
    "n^3/3 operations; the model keeps\n"
    "all rows. A singular system gets the least jitter (from 1e-12 of the mean diagonal, times "
    "ten) that makes it solvable.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
