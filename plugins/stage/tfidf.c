/* Counts of terms in texts become
 *
 *   x_j = tf(count_j) idf_j,   idf_j = ln((1 + n) / (1 + n_j)) + 1,
 *
 * n rows in the fit, n_j of them with a number other than 0 in column j; tf(c) = c, or 1 + ln c for
 * c > 0 (sublinear). Then the row is divided by its Euclidean norm. This is what scikit-learn's
 * TfidfTransformer does with smooth_idf = True and norm = "l2". n_j is a whole number: idf does not
 * depend on the order of the rows. */
#include <scullery/plugin.h>

typedef struct tfidf {
  scl_base base;
  bool idf, sublinear, normalize;
} tfidf;

static const scl_option options[] = {
    SCL_BOOLEAN(tfidf, idf, "true", "weigh columns by ln((1 + n)/(1 + n_j)) + 1"),
    SCL_BOOLEAN(tfidf, sublinear, "false", "1 + ln(count) in place of a count"),
    SCL_BOOLEAN(tfidf, normalize, "true", "divide each row by its Euclidean norm")};

/* ------------ learning */

typedef struct counting {
  int64_t *rows_with; /* d: rows with a number in the column */
  size_t d;
} counting;

static void count_dense(const counting *c, const scl_rows *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    const double *x = scl_stage_row(&rows->features, i);
    for (size_t j = 0; j < c->d; j++)
      c->rows_with[j] += x[j] != 0;
  }
}

/* Visit: count the rows of a block. */
static scl_status count_block(void *context, const scl_rows *rows, scl_error *error) {
  const counting *c = context;
  const scl_const_csr *csr = rows->csr;
  (void)error;
  if (csr == NULL)
    count_dense(c, rows);
  else
    for (int64_t k = csr->starts[0]; k < csr->starts[csr->rows]; k++)
      c->rows_with[csr->columns[k]] += scl_csr_number(csr, k) != 0;
  return SCL_STATUS_OK;
}

static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const tfidf *self = instance;
  const scl_host *host = fitting->host;
  const size_t d = fitting->rows->dim;
  const double one = 1, n = (double)fitting->rows->rows;
  scl_array array = scl_matrix_array(&one, 1, 1);
  if (!self->idf) return fitting->put(fitting, "idf", &array, error);
  counting c = {host->scratch((d + 1) * sizeof *c.rows_with), d};
  double *idf = host->scratch((d + 1) * sizeof *idf);
  if (c.rows_with == NULL || idf == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu columns", d);
  memset(c.rows_with, 0, d * sizeof *c.rows_with);
  const scl_status status = fitting->rows->walk(fitting->rows, count_block, &c, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < d; j++)
    idf[j] = log((1 + n) / (1 + (double)c.rows_with[j])) + 1;
  array = scl_matrix_array(idf, 1, d);
  return fitting->put(fitting, "idf", &array, error);
}

/* idf = false: one number, which is not read. */
static scl_status shape(const void *instance, scl_stage_state *fitted, scl_error *error) {
  const tfidf *self = instance;
  const scl_array *a = &fitted->arrays[0];
  if (a->dtype == SCL_DTYPE_FLOAT64 && a->rank == 2 && a->sizes[0] == 1 &&
      a->sizes[1] == (self->idf ? fitted->cols : 1))
    return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_DATA,
                               "the array 'idf' is not a row of %zu numbers", fitted->cols);
}

/* ------------ applying */

/* A number other than 0 of column j. */
static double weigh(const tfidf *self, const double *idf, size_t j, double count) {
  const double tf = self->sublinear && count != 0 ? 1 + log(count) : count;
  return self->idf ? tf * idf[j] : tf;
}

/* Divide a row by its norm; numbers that are 0 do not change it. */
static void normalize_row(double *x, size_t count) {
  double sum = 0, largest = 0;
  for (size_t k = 0; k < count; k++)
    largest = fmax(largest, fabs(x[k]));
  for (size_t k = 0; largest > 0 && k < count; k++) {
    x[k] /= largest;
    sum += x[k] * x[k];
  }
  const double norm = sqrt(sum);
  for (size_t k = 0; largest > 0 && k < count; k++)
    x[k] /= norm;
}

static scl_status refuse(const tfidf *self, double count, scl_error *error) {
  return self->base.host->fail(error, SCL_STATUS_BAD_DATA,
                               "sublinear is for counts of at least 0, and there is %g", count);
}

static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  const tfidf *self = instance;
  const double *idf = scl_stage_numbers(fitted, 0);
  for (size_t i = 0; i < in->rows; i++) {
    const double *x = scl_stage_row(in, i);
    double *y = scl_stage_out(out, i);
    for (size_t j = 0; j < fitted->cols; j++) {
      if (self->sublinear && x[j] < 0) return refuse(self, x[j], error);
      y[j] = weigh(self, idf, j, x[j]);
    }
    if (self->normalize) normalize_row(y, fitted->cols);
  }
  return SCL_STATUS_OK;
}

static scl_status apply_csr(const void *instance, const scl_stage_state *fitted,
                            const scl_const_csr *in, const scl_csr_block *out, scl_error *error) {
  const tfidf *self = instance;
  const double *idf = scl_stage_numbers(fitted, 0);
  const int64_t base = in->starts[0];
  for (size_t i = 0; i <= in->rows; i++)
    out->starts[i] = in->starts[i] - base;
  for (int64_t k = base; k < in->starts[in->rows]; k++) {
    const double count = scl_csr_number(in, k);
    if (self->sublinear && count < 0) return refuse(self, count, error);
    out->columns[k - base] = in->columns[k];
    out->values[k - base] = weigh(self, idf, (size_t)in->columns[k], count);
  }
  for (size_t i = 0; self->normalize && i < in->rows; i++)
    normalize_row(out->values + out->starts[i], (size_t)(out->starts[i + 1] - out->starts[i]));
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "tfidf",
    .summary = "counts of terms by how rare the terms are",
    .definition = "rows_with(c) = sum(c, function(x) return x ~= 0 and 1 or 0 end)\n"
                  "weight(c) = idf and log((1 + #c)/(1 + rows_with(c))) + 1 or 1\n"
                  "count(x) = sublinear and when(x == 0, 0, x > 0, 1 + log(x)) or x\n"
                  "weighed(X) = by_columns(X, function(x, c) return count(x)*weight(c) end)\n"
                  "unit(x) = map(x, function(t) return t/max(length(x), 1e-300) end)\n"
                  "row(X) = function(x) return (normalize and unit or join)(weighed(X)(x), {}) end",
    .doc =
        "A count c in column j becomes c idf_j, idf_j = ln((1 + n)/(1 + n_j)) + 1, of the n rows\n"
        "of the fit, of which n_j have a number other than 0 in the column; then each row is\n"
        "divided by its Euclidean norm: scikit-learn's TfidfTransformer. Sparse rows stay\n"
        "sparse. sc.text{ weight = \"tfidf\" } has this stage.",
    SCL_STAGE(.arrays = "idf", .fit = fit, .shape = shape, .apply = apply, .apply_csr = apply_csr),
    SCL_INSTANCE(tfidf, options)};
