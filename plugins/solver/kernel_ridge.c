/* Exact kernel ridge regression, the limit of ridge on random features of the same kernel:
 *
 *   min_{f, f0}  (1/2n) sum_i w_i (f(x_i) + f0 - y_i)^2 + (lambda/2) ||f||_K^2
 *   f = sum_i b_i K(x_i, .)
 *
 * K n x n between the rows, y n x c, W the diagonal matrix of the row weights w_i, n their sum. The
 * solution (Saunders, Gammerman and Vovk 1998) solves
 *
 *   (K + n lambda W^-1) b + f0 1 = y
 *   1'b = 0                                 with an intercept; f0 = 0 without
 *
 * All targets share one Cholesky factorisation: n^3/3 operations on n^2/2 numbers. The residual is
 * measured on kernel values that are computed anew. Where it is not small, one step of iterative
 * refinement follows. */
#include "shared/expansion.h"
#include "shared/rows.h"

#include <stdio.h>

enum { TILE = 512, STRIP = 256, MOST_TRIES = 12 };
static const double tolerance = 1e-8; /* relative residual of the linear system */

typedef struct kernel_ridge {
  scl_base base;
  scl_part kernel;
  double lambda;
  bool intercept;
} kernel_ridge;

static const scl_option options[] = {
    SCL_ROW(kernel_ridge, kernel, SCL_FORM_PARTS, "kernel", "gaussian",
            "the kernel on rows, as sc.kernel.gaussian{ gamma = 2 }", .range = 0),
    SCL_NUMBER(kernel_ridge, lambda, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE,
               .role = SCL_ROLE_REGULARISATION),
    SCL_BOOLEAN(kernel_ridge, intercept, "false", "fit an unpenalised constant",
                .role = SCL_ROLE_INTERCEPT)};

static scl_status gram(const void *instance, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  const kernel_ridge *self = instance;
  return self->base.host->parts->gram(&self->kernel, u, v, out, stride, error);
}

/* ------------------------------------------------------------ the matrix A = K + diag(shift) */

typedef struct linear_system {
  const kernel_ridge *self;
  const scl_host *host;
  const scl_problem *problem;
  row_set set; /* its x moves into the model */
  expansion *m;
  scl_symmetric *a;
  double *shift;    /* rows: n lambda / w_i + jitter */
  double *ones;     /* rows: A^-1 1, for the intercept */
  double *residual; /* rows x targets: y - f0 - A b */
  double *right;    /* 2 x targets */
  size_t strip;     /* first row of the tiles that are being filled */
} linear_system;

static scl_const_parameters rows_at(const linear_system *s, size_t first, size_t most) {
  const size_t left = s->m->rows - first, d = s->m->cols;
  return scl_dense_rows(s->m->x + first * d, (ptrdiff_t)d, left < most ? left : most, d);
}

static bool all_finite(const double *values, size_t rows, size_t cols) {
  double sum = 0;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      sum += 0 * values[i * TILE + j];
  return sum == 0;
}

static scl_status fill_tile(const linear_system *s, size_t i, size_t j, double *k,
                            scl_error *error) {
  const scl_const_parameters u = rows_at(s, i, TILE), v = rows_at(s, j, TILE);
  const scl_status status = gram(s->self, &u, &v, k, TILE, error);
  if (status != SCL_STATUS_OK) return status;
  if (!all_finite(k, u.count, v.count))
    return s->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "kernel.%s gives a value that is not finite for a row of the data: standardize it",
        s->self->kernel.plugin->name);
  for (size_t r = 0; i == j && r < u.count; r++)
    k[r * TILE + r] += s->shift[i + r];
  s->host->symmetric->set(s->a, i, u.count, j, v.count, k, TILE);
  return SCL_STATUS_OK;
}

static scl_status fill_task(void *context, size_t index, scl_error *error) {
  const linear_system *s = context;
  double *k = s->host->allocate(sizeof *k * TILE * TILE);
  if (k == NULL)
    return s->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for a tile of kernel values");
  const scl_status status = fill_tile(s, s->strip, index * TILE, k, error);
  s->host->release(k);
  return status;
}

static scl_status fill(linear_system *s, scl_error *error) {
  const size_t n = s->m->rows;
  scl_status status = SCL_STATUS_OK;
  for (s->strip = 0; status == SCL_STATUS_OK && s->strip < n; s->strip += TILE) {
    const double done = (double)s->strip / (double)n;
    status = s->problem->progress(s->problem, "the kernel matrix", done * done / 2, NAN, error);
    if (status == SCL_STATUS_OK)
      status = s->host->parallel(s->strip / TILE + 1, fill_task, s, error);
  }
  return status;
}

/* ------------------------------------------------------------ solving with the factor of A */

/* b (rows x c) and f0 from the right-hand side in b, where 1'b is to be `sums` (c). */
static scl_status solve_factored(const linear_system *s, double *b, const double *sums, double *f0,
                                 scl_error *error) {
  const size_t n = s->m->rows, c = s->m->functions;
  double ones = 0;
  const scl_status status = s->host->symmetric->solve(s->a, b, c, error);
  if (status != SCL_STATUS_OK || !s->self->intercept) return status;
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
  return SCL_STATUS_OK;
}

static scl_status solve_first(const linear_system *s, scl_error *error) {
  const size_t n = s->m->rows, c = s->m->functions;
  scl_status status = SCL_STATUS_OK;
  memset(s->right, 0, c * sizeof *s->right);
  memcpy(s->m->b, s->set.y, n * c * sizeof *s->m->b);
  for (size_t i = 0; i < n; i++)
    s->ones[i] = 1;
  if (s->self->intercept) status = s->host->symmetric->solve(s->a, s->ones, 1, error);
  return status == SCL_STATUS_OK ? solve_factored(s, s->m->b, s->right, s->m->f0, error) : status;
}

/* One step of iterative refinement. */
static scl_status refine(const linear_system *s, scl_error *error) {
  const size_t n = s->m->rows, c = s->m->functions;
  double *sums = s->right, *f0 = s->right + c;
  for (size_t j = 0; j < c; j++) {
    sums[j] = f0[j] = 0;
    for (size_t i = 0; i < n; i++)
      sums[j] -= s->m->b[i * c + j];
  }
  const scl_status status = solve_factored(s, s->residual, sums, f0, error);
  for (size_t j = 0; j < c; j++)
    s->m->f0[j] += f0[j];
  for (size_t i = 0; i < n * c; i++)
    s->m->b[i] += s->residual[i];
  return status;
}

static scl_status residual_task(void *context, size_t index, scl_error *error) {
  const linear_system *s = context;
  const size_t first = index * STRIP, c = s->m->functions;
  const scl_const_parameters u = rows_at(s, first, STRIP);
  double *out = s->residual + first * c;
  const scl_status status = expansion_values(s->self, gram, s->m, &u, out, (ptrdiff_t)c, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u.count * c; i++)
    out[i] = s->set.y[first * c + i] - out[i] - s->shift[first + i / c] * s->m->b[first * c + i];
  return status;
}

/* The largest entry of y - f0 - A b, over the largest of y. */
static scl_status measure(linear_system *s, double *relative, scl_error *error) {
  const size_t count = s->m->rows * s->m->functions;
  double worst = 0, size = 0;
  const scl_status status =
      s->host->parallel((s->m->rows + STRIP - 1) / STRIP, residual_task, s, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    if (!(fabs(s->residual[i]) <= worst)) worst = fabs(s->residual[i]);
    if (fabs(s->set.y[i]) > size) size = fabs(s->set.y[i]);
  }
  *relative = size > 0 ? worst / size : worst;
  return status;
}

/* ------------------------------------------------------------ the least jitter that serves */

/* *relative: the residual; infinity where A has no Cholesky factor. */
static scl_status attempt(linear_system *s, double *relative, scl_error *error) {
  size_t pivot = 0;
  *relative = INFINITY;
  scl_status status = fill(s, error);
  if (status == SCL_STATUS_OK)
    status = s->problem->progress(s->problem, "factoring the kernel matrix", 0.5, NAN, error);
  if (status != SCL_STATUS_OK) return status;
  status = s->host->symmetric->factor(s->a, &pivot, error);
  if (status == SCL_STATUS_NUMERIC) return SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = solve_first(s, error);
  if (status == SCL_STATUS_OK) status = measure(s, relative, error);
  if (status != SCL_STATUS_OK || !isfinite(*relative) || *relative <= 1e-3 * tolerance)
    return status;
  status = refine(s, error);
  return status == SCL_STATUS_OK ? measure(s, relative, error) : status;
}

/* The mean of A's diagonal without jitter. */
static scl_status mean_diagonal(const linear_system *s, double *mean, scl_error *error) {
  const size_t n = s->m->rows;
  const scl_const_parameters all = rows_at(s, 0, n);
  double *diagonal = s->ones, sum = 0;
  const scl_status status = s->host->parts->diagonal(&s->self->kernel, &all, diagonal, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++)
    sum += diagonal[i] + s->shift[i];
  *mean = sum > 0 ? sum / (double)n : 1;
  return status;
}

static void account(scl_solution *out, double residual, double jitter) {
  out->outcome = residual <= tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  out->residual = residual;
  out->tolerance = tolerance;
  out->iterations = 1;
  out->jitter = jitter;
  if (jitter > 0)
    (void)snprintf(
        out->note, sizeof out->note,
        "the kernel matrix is singular to working precision: %.1e was added to its diagonal",
        jitter);
}

static scl_status solve_system(linear_system *s, scl_solution *out, scl_error *error) {
  const size_t n = s->m->rows;
  double unit = 1, jitter = 0, residual = INFINITY;
  scl_status status = mean_diagonal(s, &unit, error);
  for (int tries = 0; status == SCL_STATUS_OK && tries < MOST_TRIES; tries++) {
    status = attempt(s, &residual, error);
    if (status != SCL_STATUS_OK) return status;
    if (residual <= tolerance || (isfinite(residual) && tries + 3 >= MOST_TRIES)) {
      account(out, residual, jitter);
      return SCL_STATUS_OK;
    }
    const double more = (tries == 0 ? 1e-12 : 9e-12 * pow(10, tries - 1)) * unit;
    for (size_t i = 0; i < n; i++)
      s->shift[i] += more;
    jitter += more;
  }
  if (status != SCL_STATUS_OK) return status;
  return s->host->fail(error, SCL_STATUS_NUMERIC,
                       "the kernel matrix of %zu rows stays singular even with %.1e on its "
                       "diagonal: give a larger lambda",
                       n, jitter);
}

/* ------------------------------------------------------------ fitting */

static void end(const void *instance, void *model) {
  const scl_host *host = ((const kernel_ridge *)instance)->base.host;
  expansion_release(host, model);
  host->release(model);
}

static scl_status collect(linear_system *s, scl_error *error) {
  const scl_status status = rows_collect(s->problem, &s->set, error);
  s->m->rows = s->set.rows;
  s->m->cols = s->set.cols;
  s->m->functions = s->set.targets;
  s->m->x = s->set.x;
  s->set.x = NULL;
  return status;
}

static scl_status reserve(linear_system *s, scl_error *error) {
  const size_t n = s->m->rows, c = s->m->functions;
  if (s->host->symmetric->create(n, &s->a, NULL) != SCL_STATUS_OK)
    return s->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "exact kernel ridge of %zu rows takes a matrix of %.1f GB, more memory "
                         "than there is: take fewer rows, or random features",
                         n, 4e-9 * (double)n * (double)n);
  s->shift = s->host->allocate(n * sizeof(double));
  s->ones = s->host->allocate(n * sizeof(double));
  s->residual = s->host->allocate(n * c * sizeof(double));
  s->right = s->host->allocate(2 * c * sizeof(double));
  s->m->b = s->host->allocate(n * c * sizeof(double));
  s->m->f0 = models_new(s->host, c * sizeof(double), error);
  if (s->shift != NULL && s->ones != NULL && s->residual != NULL && s->right != NULL &&
      s->m->b != NULL && s->m->f0 != NULL)
    return SCL_STATUS_OK;
  return s->host->fail(error, SCL_STATUS_NO_MEMORY,
                       "not enough memory for the residuals of %zu rows", n);
}

static void set_shift(const linear_system *s) {
  double total = 0;
  for (size_t i = 0; i < s->m->rows; i++)
    total += s->set.weights[i];
  for (size_t i = 0; i < s->m->rows; i++)
    s->shift[i] = total / s->set.weights[i] * s->self->lambda;
}

static void release(linear_system *s) {
  if (s->a != NULL) s->host->symmetric->destroy(s->a);
  rows_release(s->host, &s->set);
  s->host->release(s->shift);
  s->host->release(s->ones);
  s->host->release(s->residual);
  s->host->release(s->right);
}

static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  linear_system s = {.self = instance, .host = problem->host, .problem = problem};
  s.m = models_new(s.host, sizeof *s.m, error);
  if (s.m == NULL) return SCL_STATUS_NO_MEMORY;
  scl_status status = collect(&s, error);
  if (status == SCL_STATUS_OK) status = reserve(&s, error);
  if (status == SCL_STATUS_OK) {
    set_shift(&s);
    status = solve_system(&s, out, error);
  }
  release(&s);
  if (status == SCL_STATUS_OK)
    *model = s.m;
  else
    end(instance, s.m);
  return status;
}

/* ------------------------------------------------------------ the model */

static scl_status decide(const void *instance, const void *model, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const scl_const_parameters u =
      scl_dense_rows(rows->data, rows->row_stride, rows->rows, rows->cols);
  return expansion_values(instance, gram, model, &u, scores, stride, error);
}

static scl_status save(const void *instance, const void *model, scl_archive *archive,
                       scl_error *error) {
  model_writer w = {archive, error, SCL_STATUS_OK};
  (void)instance;
  expansion_put(&w, model);
  return w.status;
}

static void get_model(const void *self, model_reader *r, size_t features, size_t targets,
                      void *model) {
  expansion *m = model;
  (void)self;
  m->cols = features;
  m->functions = targets;
  expansion_get(r, m);
}
MODELS_LOAD(expansion)

const scl_plugin scullery_plugin = {
    .name = "kernel_ridge",
    .summary =
        "Exact kernel ridge regression, for as many rows as a matrix of n^2/2 numbers allows",
    .doc =
        "min_f (1/2n) sum_i w_i (f(x_i) - y_i)^2 + (lambda/2) ||f||_K^2, f = sum_i b_i K(x_i, .)\n"
        "w_i are the row weights and n their sum: (K + n lambda W^-1) b = y (Saunders, Gammerman\n"
        "and Vovk 1998). It is the limit of ridge on random features of the same kernel. Any\n"
        "kernel on rows, its width a number, \"scale\" or \"median\". Memory 4 n^2 bytes, n^3/3\n"
        "operations. The model keeps all rows (arrays rows, coefficients, intercept). A singular\n"
        "system gets the least jitter, from 1e-12 of the mean diagonal in powers of ten, that\n"
        "makes it solvable.",
    MODELS_SOLVER,
    SCL_INSTANCE(kernel_ridge, options)};
