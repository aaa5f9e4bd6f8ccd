/* Exact kernel ridge regression, the model that random features approach as their number grows:
 *
 *   min_{f, f0} (1/2n) sum_i w_i (f(x_i) + f0 - y_i)^2 + (lambda/2) ||f||_K^2,    f = sum_i b_i K(x_i, .)
 *
 * so that (K + n lambda W^-1) b + f0 1 = y and, with an intercept, 1'b = 0 (Saunders, Gammerman and Vovk 1998). K n x n between the rows, W
 * the row weights w_i on a diagonal, n their sum, y n x c; all targets share one Cholesky factorisation, n^3/3 operations on n^2/2 numbers.
 * The residual is measured on kernel values made anew, and refines the solution once where it is not small. */
#include "shared/bytes.h"
#include "shared/failure.h"
#include "shared/kernel_parts.h"
#include "shared/rows.h"

enum { KERNEL, LAMBDA, INTERCEPT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"kernel", SCL_PARTS, "kernel", "gaussian", 0, 0, 0, SCL_NO_WIDTH, "the kernel on rows, as sc.kernel.gaussian{ gamma = 2 }"},
    {"lambda", SCL_NUMBER, NULL, "1e-6", 0, INFINITY, SCL_HIGH_OPEN, SCL_NO_WIDTH, "regularisation of the mean loss"},
    {"intercept", SCL_BOOLEAN, NULL, "false", 0, 0, 0, SCL_NO_WIDTH, "fit an unpenalised constant"},
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

typedef struct expansion {
  row_set set;
  double *b;  /* rows x targets */
  double *f0; /* targets */
} expansion;

static void destroy(void *instance) {
  kernel_ridge *self = instance;
  const scl_host *host = self->host;
  parts_release(&self->kernel);
  host->release(self);
}

static scl_status check_kernel(const kernel_ridge *self, scl_error *error) {
  const scl_plugin *kernel = self->kernel.list[0].plugin;
  if (self->kernel.count > 1)
    return self->host->fail(error, SCL_BAD_OPTION, "option 'kernel' got %zu kernels; it takes one, as sc.kernel.sum{} of them",
                            self->kernel.count);
  if (((const scl_kernel *)kernel->vtable)->spaces & SCL_IN(SCL_DENSE)) return SCL_OK;
  return self->host->fail(error, SCL_UNSUPPORTED, "kernel.%s is not defined on rows of data", kernel->name);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance, scl_error *error) {
  kernel_ridge *self = host->allocate(sizeof *self);
  if (self == NULL) return host->fail(error, SCL_NO_MEMORY, "not enough memory for a solver");
  *self = (kernel_ridge){.host = host,
                         .symmetric = host->service(SCL_SERVICE_SYMMETRIC),
                         .dense = host->service(SCL_SERVICE_DENSE_ALGEBRA),
                         .kernel = {host, NULL, 0},
                         .lambda = values[LAMBDA].number,
                         .intercept = values[INTERCEPT].number != 0};
  scl_status status = parts_read(host, "kernel", &values[KERNEL], &self->kernel, error);
  if (status == SCL_OK) status = check_kernel(self, error);
  if (status == SCL_OK)
    *instance = self;
  else
    destroy(self);
  return status;
}

/* ---------------------------------------------------------------- models */

static void end(const void *instance, void *model) {
  const scl_host *host = ((const kernel_ridge *)instance)->host;
  expansion *m = model;
  if (m == NULL) return;
  rows_release(host, &m->set);
  host->release(m->b);
  host->release(m->f0);
  host->release(m);
}

static scl_status empty(const scl_host *host, expansion **out, scl_error *error) {
  expansion *m = host->allocate(sizeof *m);
  if (m == NULL) return host->fail(error, SCL_NO_MEMORY, "not enough memory for a model");
  memset(m, 0, sizeof *m);
  *out = m;
  return SCL_OK;
}

/* Rows first .. first+count-1 as the kernel takes them. */
static scl_parameters batch(const double *x, ptrdiff_t stride, size_t first, size_t count, size_t dim) {
  return (scl_parameters){.head = SCL_HEAD(scl_parameters),
                          .space = SCL_DENSE,
                          .count = count,
                          .dim = dim,
                          .weights = (double *)(uintptr_t)(x + (ptrdiff_t)first * stride),
                          .stride = stride};
}

/* scores (rows x c at `stride`) = f0 + sum_i b_i K(x_i, x), the kept rows a tile at a time. */
static scl_status expand(const kernel_ridge *self, const expansion *m, const double *x, ptrdiff_t x_stride, size_t rows, double *scores,
                         ptrdiff_t stride, scl_error *error) {
  const size_t d = m->set.cols, c = m->set.targets;
  const scl_parameters u = batch(x, x_stride, 0, rows, d);
  double *k = self->host->allocate((rows + 1) * TILE * sizeof *k);
  if (k == NULL) return self->host->fail(error, SCL_NO_MEMORY, "not enough memory for %zu kernel values", rows * TILE);
  for (size_t i = 0; i < rows; i++)
    memcpy(scores + (ptrdiff_t)i * stride, m->f0, c * sizeof *scores);
  scl_status status = SCL_OK;
  for (size_t first = 0; status == SCL_OK && first < m->set.rows; first += TILE) {
    const size_t count = m->set.rows - first < TILE ? m->set.rows - first : TILE;
    const scl_parameters v = batch(m->set.x, (ptrdiff_t)d, first, count, d);
    status = part_gram(self->host, &self->kernel.list[0], &u, &v, k, TILE, error);
    if (status == SCL_OK) self->dense->gemm(0, 0, rows, c, count, 1, k, TILE, m->b + first * c, (ptrdiff_t)c, 1, scores, stride);
  }
  self->host->release(k);
  return status;
}

static scl_status decide(const void *instance, const void *model, const scl_block *rows, double *scores, ptrdiff_t stride,
                         scl_error *error) {
  const kernel_ridge *self = instance;
  const expansion *m = model;
  double *copy;
  ptrdiff_t x_stride;
  if (rows->cols != m->set.cols)
    return self->host->fail(error, SCL_BAD_SHAPE, "rows of %zu columns where the model takes %zu", rows->cols, m->set.cols);
  const double *x = rows_wide(self->host, rows, &copy, &x_stride);
  if (x == NULL) return self->host->fail(error, SCL_NO_MEMORY, "not enough memory for a copy of %zu rows", rows->rows);
  const scl_status status = expand(self, m, x, x_stride, rows->rows, scores, stride, error);
  self->host->release(copy);
  return status;
}

/* ---------------------------------------------------------------- the system A = K + diag(shift) */

typedef struct linear_system {
  const kernel_ridge *self;
  const scl_problem *problem;
  expansion *m;
  scl_symmetric *a;
  double *shift;    /* rows: n lambda / w_i + jitter */
  double *ones;     /* rows: A^-1 1, for the intercept */
  double *residual; /* rows x targets: y - f0 - A b */
  double *right;    /* rows x targets */
  size_t strip;     /* the tasks' */
  failure *failed;
} linear_system;

static scl_status fill_tile(const linear_system *s, size_t i, size_t j, double *k, scl_error *error) {
  const row_set *set = &s->m->set;
  const size_t rows = set->rows - i < TILE ? set->rows - i : TILE, cols = set->rows - j < TILE ? set->rows - j : TILE;
  const scl_parameters u = batch(set->x, (ptrdiff_t)set->cols, i, rows, set->cols),
                       v = batch(set->x, (ptrdiff_t)set->cols, j, cols, set->cols);
  const kernel_part *kernel = &s->self->kernel.list[0];
  const scl_status status = part_gram(s->self->host, kernel, &u, &v, k, TILE, error);
  if (status != SCL_OK) return status;
  for (size_t r = 0; r < rows; r++) {
    double sum = 0;
    if (i == j) k[r * TILE + r] += s->shift[i + r];
    for (size_t q = 0; q < cols; q++)
      sum += 0 * k[r * TILE + q];
    if (sum != 0)
      return s->self->host->fail(error, SCL_BAD_DATA, "kernel.%s gives a value that is not finite for a row of the data: standardize it",
                                 kernel->plugin->name);
  }
  s->self->symmetric->set(s->a, i, rows, j, cols, k, TILE);
  return SCL_OK;
}

static void fill_task(void *context, size_t index) {
  const linear_system *s = context;
  const scl_host *host = s->self->host;
  scl_error error = {0};
  double *k = host->allocate(sizeof *k * TILE * TILE);
  const scl_status status = k == NULL ? host->fail(&error, SCL_NO_MEMORY, "not enough memory for a tile of kernel values")
                                      : fill_tile(s, s->strip, index * TILE, k, &error);
  failure_note(s->failed, status, &error);
  host->release(k);
}

static scl_status fill(linear_system *s, scl_error *error) {
  const size_t n = s->m->set.rows;
  failure failed;
  failure_begin(&failed);
  s->failed = &failed;
  for (s->strip = 0; s->strip < n && failed.status == SCL_OK; s->strip += TILE) {
    const double done = (double)s->strip / (double)n;
    const scl_status status = s->problem->progress(s->problem, done * done / 2, "the kernel matrix", error);
    if (status != SCL_OK) return status;
    s->self->host->parallel(s->strip / TILE + 1, fill_task, s);
  }
  return failure_end(&failed, error);
}

/* b (rows x c) and f0 from the right-hand side in b; `sums` (c) is what 1'b should be. */
static void solve_factored(const linear_system *s, double *b, const double *sums, double *f0) {
  const size_t n = s->m->set.rows, c = s->m->set.targets;
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
  const row_set *set = &s->m->set;
  const size_t first = index * STRIP, rows = set->rows - first < STRIP ? set->rows - first : STRIP, c = set->targets;
  double *out = s->residual + first * c;
  scl_error error = {0};
  const scl_status status = expand(s->self, s->m, set->x + first * set->cols, (ptrdiff_t)set->cols, rows, out, (ptrdiff_t)c, &error);
  failure_note(s->failed, status, &error);
  for (size_t i = 0; status == SCL_OK && i < rows * c; i++)
    out[i] = set->y[first * c + i] - out[i] - s->shift[first + i / c] * s->m->b[first * c + i];
}

/* The largest entry of y - f0 - A b, over the largest of y. */
static scl_status measure(linear_system *s, double *relative, scl_error *error) {
  const size_t count = s->m->set.rows * s->m->set.targets;
  double worst = 0, size = 0;
  failure failed;
  failure_begin(&failed);
  s->failed = &failed;
  s->self->host->parallel((s->m->set.rows + STRIP - 1) / STRIP, residual_task, s);
  for (size_t i = 0; failed.status == SCL_OK && i < count; i++) {
    if (!(fabs(s->residual[i]) <= worst)) worst = fabs(s->residual[i]);
    if (fabs(s->m->set.y[i]) > size) size = fabs(s->m->set.y[i]);
  }
  *relative = size > 0 ? worst / size : worst;
  return failure_end(&failed, error);
}

/* One step of iterative refinement. */
static void refine(const linear_system *s) {
  const size_t n = s->m->set.rows, c = s->m->set.targets;
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

/* SCL_NUMERIC where the matrix does not factor, and only there. */
static scl_status attempt(linear_system *s, double *relative, scl_error *error) {
  const row_set *set = &s->m->set;
  size_t pivot = 0;
  scl_status status = fill(s, error);
  if (status == SCL_OK) status = s->problem->progress(s->problem, 0.5, "factoring the kernel matrix", error);
  if (status == SCL_OK) status = s->self->symmetric->factor(s->a, &pivot, error);
  if (status != SCL_OK) return status;
  memset(s->right, 0, 2 * set->targets * sizeof *s->right);
  memcpy(s->m->b, set->y, set->rows * set->targets * sizeof *s->m->b);
  for (size_t i = 0; i < set->rows; i++)
    s->ones[i] = 1;
  if (s->self->intercept) s->self->symmetric->solve(s->a, s->ones, 1);
  solve_factored(s, s->m->b, s->right, s->m->f0);
  status = measure(s, relative, error);
  if (status != SCL_OK || !isfinite(*relative) || *relative <= 1e-3 * tolerance) return status;
  refine(s);
  return measure(s, relative, error);
}

/* The mean of A's diagonal without jitter. */
static scl_status mean_diagonal(const linear_system *s, double *mean, scl_error *error) {
  const row_set *set = &s->m->set;
  const scl_parameters all = batch(set->x, (ptrdiff_t)set->cols, 0, set->rows, set->cols);
  const scl_status status = part_diagonal(&s->self->kernel.list[0], &all, s->ones, error);
  double sum = 0;
  for (size_t i = 0; status == SCL_OK && i < set->rows; i++)
    sum += s->ones[i] + s->shift[i];
  *mean = sum > 0 ? sum / (double)set->rows : 1;
  return status;
}

/* The least jitter that makes the system solvable, from none. */
static scl_status solve_system(linear_system *s, scl_solution *out, scl_error *error) {
  const size_t n = s->m->set.rows;
  double unit = 1, jitter = 0;
  scl_status status = mean_diagonal(s, &unit, error);
  for (int tries = 0; status == SCL_OK && tries < MOST_TRIES; tries++) {
    status = attempt(s, &out->residual, error);
    if (status != SCL_OK && status != SCL_NUMERIC) return status;
    const int solved = status == SCL_OK && isfinite(out->residual);
    if (solved && (out->residual <= tolerance || tries + 3 >= MOST_TRIES)) {
      out->outcome = out->residual <= tolerance ? SCL_CONVERGED : SCL_LIMIT;
      out->jitter = jitter;
      if (jitter > 0)
        (void)snprintf(out->note, sizeof out->note, "the kernel matrix is singular to working precision: %.1e was added to its diagonal",
                       jitter);
      return SCL_OK;
    }
    status = SCL_OK;
    const double more = (tries == 0 ? 1e-12 : 9e-12 * pow(10, tries - 1)) * unit;
    for (size_t i = 0; i < n; i++)
      s->shift[i] += more;
    jitter += more;
  }
  if (status != SCL_OK) return status;
  return s->self->host->fail(
      error, SCL_NUMERIC, "the kernel matrix of %zu rows stays singular even with %.1e on its diagonal: give a larger lambda", n, jitter);
}

/* ---------------------------------------------------------------- fitting */

static scl_status reserve(linear_system *s, scl_error *error) {
  const scl_host *host = s->self->host;
  const size_t n = s->m->set.rows, c = s->m->set.targets;
  scl_status status = s->self->symmetric->create(n, &s->a, NULL);
  if (status != SCL_OK)
    return host->fail(error, SCL_NO_MEMORY,
                      "exact kernel ridge of %zu rows takes a matrix of %.0f GB, more than there is: take fewer rows, or random features",
                      n, 4e-9 * (double)n * (double)n);
  s->shift = host->allocate(n * sizeof(double));
  s->ones = host->allocate(n * sizeof(double));
  s->residual = host->allocate(n * c * sizeof(double));
  s->right = host->allocate(2 * c * sizeof(double));
  s->m->b = host->allocate(n * c * sizeof(double));
  s->m->f0 = host->allocate(c * sizeof(double));
  if (s->shift != NULL && s->ones != NULL && s->residual != NULL && s->right != NULL && s->m->b != NULL && s->m->f0 != NULL) return SCL_OK;
  return host->fail(error, SCL_NO_MEMORY, "not enough memory for %zu coefficients", n * c);
}

static void set_shift(const linear_system *s) {
  const row_set *set = &s->m->set;
  double total = 0;
  for (size_t i = 0; i < set->rows; i++)
    total += set->weights[i];
  for (size_t i = 0; i < set->rows; i++)
    s->shift[i] = total / set->weights[i] * s->self->lambda;
  memset(s->m->f0, 0, set->targets * sizeof *s->m->f0);
}

static void release(linear_system *s) {
  const scl_host *host = s->self->host;
  if (s->a != NULL) s->self->symmetric->destroy(s->a);
  host->release(s->shift);
  host->release(s->ones);
  host->release(s->residual);
  host->release(s->right);
}

static scl_status fit(const void *instance, const scl_problem *problem, void **model, scl_solution *out, scl_error *error) {
  linear_system s = {.self = instance, .problem = problem};
  scl_status status = empty(problem->host, &s.m, error);
  if (status != SCL_OK) return status;
  status = rows_collect(problem, &s.m->set, error);
  if (status == SCL_OK) status = reserve(&s, error);
  if (status == SCL_OK) {
    set_shift(&s);
    status = solve_system(&s, out, error);
  }
  release(&s);
  if (status != SCL_OK) {
    end(instance, s.m);
    return status;
  }
  out->tolerance = tolerance;
  out->iterations = 1;
  *model = s.m;
  return SCL_OK;
}

/* ---------------------------------------------------------------- bytes */

static const char title[] = "kernel ridge 1";

static scl_status save(const void *instance, const void *model, scl_write write, void *context, scl_error *error) {
  (void)instance;
  const expansion *m = model;
  byte_writer w = {write, context, error, SCL_OK};
  bytes_put_title(&w, title);
  bytes_put_shape(&w, &m->set);
  bytes_put_numbers(&w, m->set.x, m->set.rows * m->set.cols);
  bytes_put_numbers(&w, m->b, m->set.rows * m->set.targets);
  bytes_put_numbers(&w, m->f0, m->set.targets);
  return w.status;
}

static scl_status load(const void *instance, scl_read read, void *context, void **model, scl_error *error) {
  const kernel_ridge *self = instance;
  byte_reader r = {self->host, read, context, error, SCL_OK};
  expansion *m = NULL;
  r.status = empty(self->host, &m, error);
  bytes_expect_title(&r, title);
  if (m != NULL) {
    bytes_get_shape(&r, &m->set);
    m->set.x = bytes_get_array(&r, m->set.rows, m->set.cols);
    m->b = bytes_get_array(&r, m->set.rows, m->set.targets);
    m->f0 = bytes_get_array(&r, 1, m->set.targets);
  }
  if (r.status == SCL_OK)
    *model = m;
  else
    end(self, m);
  return r.status;
}

#include "shared/model_solver.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_SOLVER,
    "kernel_ridge",
    "1.0",
    "The Scullery authors",
    "Exact kernel ridge regression, for as many rows as a matrix of n^2/2 numbers allows",
    "min_f (1/2n) sum_i w_i (f(x_i) - y_i)^2 + (lambda/2) ||f||_K^2, f = sum_i b_i K(x_i, .), w_i the row weights and n their sum:\n"
    "(K + n lambda W^-1) b = y (Saunders, Gammerman and Vovk 1998). It is what ridge on random features of the same kernel tends\n"
    "to. Any kernel on rows, its width a number, \"scale\" or \"median\". Memory 4 n^2 bytes, n^3/3 operations; the model keeps\n"
    "all rows. A singular system gets the least jitter (from 1e-12 of the mean diagonal, times ten) that makes it solvable.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
