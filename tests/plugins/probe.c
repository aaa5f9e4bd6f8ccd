/* For plugin_test.lua: a solver that asks a problem for everything, compares the answers with sums
 * over the rows that it walks, and fails with a sentence where two differ. Its coefficients are
 * 0. */
#include <scullery/plugin.h>

typedef struct probe {
  scl_base base;
  bool intercept;
} probe;

static const scl_option options[] = {
    SCL_BOOLEAN(probe, intercept, "false", "centred sums", .role = SCL_ROLE_INTERCEPT)};

/* What the walk says: Phi and Y, all of them, float64. */
typedef struct rows_kept {
  size_t d, c, seen;
  double *phi, *y;
} rows_kept;

static double number(const scl_const_block *b, size_t i, size_t j) {
  const ptrdiff_t at = (ptrdiff_t)i * b->row_stride + (ptrdiff_t)j;
  return b->dtype == SCL_DTYPE_FLOAT64 ? ((const double *)b->data)[at]
                                       : (double)((const float *)b->data)[at];
}

static scl_status keep(void *context, const scl_rows *rows, scl_error *error) {
  (void)error;
  rows_kept *k = context;
  for (size_t i = 0; i < rows->count; i++) {
    for (size_t j = 0; j < k->d; j++)
      k->phi[(k->seen + i) * k->d + j] = number(&rows->features, i, j);
    for (size_t j = 0; j < k->c; j++)
      k->y[(k->seen + i) * k->c + j] = rows->targets[i * k->c + j];
  }
  k->seen += rows->count;
  return SCL_STATUS_OK;
}

/* scores - targets */
static scl_status residuals(void *context, const scl_rows *rows, double *scores, scl_error *error) {
  (void)error;
  const size_t c = *(const size_t *)context;
  for (size_t i = 0; i < rows->count * c; i++)
    scores[i] -= rows->targets[i];
  return SCL_STATUS_OK;
}

/* sum: of all features; pair: of features `from` and from + 1, with signs that tell the rows
 * apart */
typedef struct batch_kept {
  size_t from, rows, cols;
  double sum, pair;
} batch_kept;

static scl_status keep_batch(void *context, const scl_rows *rows, scl_error *error) {
  (void)error;
  batch_kept *b = context;
  b->rows += rows->count;
  b->cols = rows->features.cols;
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < rows->features.cols; j++)
      b->sum += number(&rows->features, i, j);
  for (size_t i = 0; i < rows->count; i++)
    b->pair += sin((double)i) * number(&rows->features, i, b->from) +
               cos((double)i) * number(&rows->features, i, b->from + 1);
  return SCL_STATUS_OK;
}

#define CHECK(holds, what) \
  if (!(holds)) \
  return self->base.host->fail(error, SCL_STATUS_NUMERIC, \
                               "the verb " what " differs from the rows walked")

static int near(double a, double b) { return fabs(a - b) <= 1e-4 * (1 + fabs(a) + fabs(b)); }

static scl_status compare(const probe *self, const scl_problem *p, const rows_kept *k, double *work,
                          scl_error *error) {
  const size_t n = p->rows, d = k->d, c = k->c;
  double *a = work, *out = a + d * c, *weights = out + (n > d ? n : d) * c;
  scl_status status;
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  CHECK(k->seen == n, "walk");
  for (size_t i = 0; i < d * c; i++)
    a[i] = sin((double)i);
  if ((status = p->responses(p, out, weights, error)) != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n * c; i++)
    CHECK(out[i] == k->y[i], "responses");
  for (size_t i = 0; i < n; i++)
    CHECK(weights[i] == 1, "responses");
  if ((status = p->product(p, a, c, out, error)) != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = 0; j < d; j++)
      sum += k->phi[i * d + j] * a[j * c];
    CHECK(near(out[i * c], sum), "product");
  }
  if ((status = p->adjoint(p, k->y, c, out, error)) != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < d; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
      sum += k->phi[i * d + j] * k->y[i * c];
    CHECK(near(out[j * c], sum), "adjoint");
  }
  size_t columns = c;
  if ((status = p->sweep(p, a, c, residuals, &columns, out, error)) != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < d; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      double score = -k->y[i * c];
      for (size_t m = 0; m < d; m++)
        score += k->phi[i * d + m] * a[m * c];
      sum += k->phi[i * d + j] * score;
    }
    CHECK(near(out[j * c], sum), "sweep");
  }
  for (int weighted = 1; weighted >= 0; weighted--) {
    for (size_t i = 0; i < n; i++)
      weights[i] = weighted ? (double)(i % 3) : 1;
    status = weighted ? p->reweighted(p, weights, &normal, error) : p->normal(p, &normal, error);
    if (status != SCL_STATUS_OK) return status;
    p->host->symmetric->column(normal.moment, d - 1, out);
    double total = 0, mean_last = 0, mean_first = 0;
    for (size_t i = 0; i < n; i++) {
      total += weights[i];
      mean_last += weights[i] * k->phi[i * d + d - 1];
      mean_first += weights[i] * k->phi[i * d];
    }
    double sum = p->intercept ? -mean_last * mean_first / total : 0;
    for (size_t i = 0; i < n; i++)
      sum += weights[i] * k->phi[i * d] * k->phi[i * d + d - 1];
    CHECK(near(normal.total, total), "normal");
    CHECK(near(out[0], sum), "normal or reweighted");
  }
  const size_t firsts[] = {1, d / 2 - 1, d - 2}; /* within an output, across two, at the end */
  batch_kept plain = {0};
  for (size_t f = 0; f < 3; f++) {
    batch_kept whole = {.from = firsts[f]}, again = {0}, part = {0};
    if ((status = p->minibatch(p, 5, 1, 40, 0, d, 0, keep_batch, &whole, error)) != SCL_STATUS_OK)
      return status;
    if ((status = p->minibatch(p, 5, 1, 40, 0, d, 0, keep_batch, &again, error)) != SCL_STATUS_OK)
      return status;
    if ((status = p->minibatch(p, 5, 1, 40, firsts[f], 2, 0, keep_batch, &part, error)) !=
        SCL_STATUS_OK)
      return status;
    CHECK(whole.rows == 40 && whole.cols == d && whole.sum == again.sum, "minibatch");
    CHECK(part.rows == 40 && part.cols == 2 && near(part.pair, whole.pair),
          "minibatch of some features");
  }
  if ((status = p->minibatch(p, 5, 1, 40, 0, d, 1, keep_batch, &plain, error)) != SCL_STATUS_OK)
    return status;
  CHECK(plain.rows == 40, "minibatch, plain");
  /* phi is a sign where it has one output: plain sums are whole numbers */
  CHECK(d != p->parameters || fabs(plain.sum - round(plain.sum)) < 1e-2, "minibatch, plain");
  return p->progress(p, "probing", 1, NAN, error);
}

static scl_status solve(const void *self, const scl_problem *p, scl_solution *out,
                        scl_error *error) {
  const scl_host *host = p->host;
  rows_kept k = {p->features, p->targets, 0, NULL, NULL};
  const size_t most = p->rows > p->features ? p->rows : p->features;
  k.phi = host->allocate(p->rows * (k.d + k.c) * sizeof(double));
  double *work = host->allocate((k.d * k.c + most * k.c + p->rows + 1) * sizeof(double));
  scl_status status = k.phi == NULL || work == NULL
                          ? host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory")
                          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) {
    k.y = k.phi + p->rows * k.d;
    status = p->walk(p, keep, &k, error);
  }
  if (status == SCL_STATUS_OK) status = compare(self, p, &k, work, error);
  memset(out->coefficients, 0, k.d * k.c * sizeof(double));
  out->outcome = SCL_OUTCOME_STOPPED;
  out->iterations = 1;
  host->release(k.phi);
  host->release(work);
  return status;
}

const scl_plugin scullery_plugin = {.name = "probe",
                                    .summary = "asks for everything",
                                    .doc = "asks for everything",
                                    SCL_SOLVER(.dtypes = SCL_DTYPES_FLOAT, .solve = solve),
                                    SCL_INSTANCE(probe, options)};
