/* Principal components: a row x becomes
 *
 *   V (x - mean),
 *
 * the k rows of V (k x d) orthonormal eigenvectors of the covariance of the rows, the largest
 * variance first; the largest entry of each is positive. Two passes over the rows. With fewer rows
 * than columns, the n x n products of rows replace the covariance, unless the k-th variance is too
 * near 0. */
#include "shared/projection.h"

typedef struct pca {
  scl_base base;
  size_t k;
} pca;

static const scl_option options[] = {
    SCL_INTEGER(pca, k, NULL, "components; by default as many as there are columns and rows",
                SCL_WITHIN(1, INT32_MAX))};

/* One fit. mean (d), values (k) and vectors (k x d), diagonal (room for max(d, n) numbers). */
typedef struct fitted_pca {
  const scl_fitting *fitting;
  size_t n, d, k;
  double weight, total;
  double *mean, *values, *vectors, *diagonal;
} fitted_pca;

/* Set the total of all variances from the diagonal of a sum of products. Fails where it
 * overflowed. */
static scl_status sum_variances(fitted_pca *f, const scl_symmetric *sum, size_t order,
                                scl_error *error) {
  f->fitting->host->symmetric->diagonal(sum, f->diagonal);
  f->total = 0;
  for (size_t j = 0; j < order; j++)
    f->total += f->diagonal[j] / f->weight;
  if (isfinite(f->total)) return SCL_STATUS_OK;
  return f->fitting->host->fail(
      error, SCL_STATUS_BAD_DATA,
      "the covariance of the columns is too large for float64: scale the data");
}

/* The eigenvectors of the sum of centred products, and their variances: eigenvalues divided by the
 * total weight, 0 where rounding made them negative. */
static scl_status decompose(fitted_pca *f, const scl_symmetric *sum, scl_error *error) {
  scl_status status = sum_variances(f, sum, f->d, error);
  if (status == SCL_STATUS_OK)
    status = f->fitting->host->symmetric->eigen(sum, f->k, f->values, f->vectors, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < f->k; i++) {
    projection_point_up(f->vectors + i * f->d, f->d);
    f->values[i] = fmax(f->values[i] / f->weight, 0);
  }
  return status;
}

static scl_status by_covariance(fitted_pca *f, scl_error *error) {
  scl_symmetric *sum = NULL;
  scl_status status = f->fitting->products(f->fitting, f->mean, &sum, error);
  if (status != SCL_STATUS_OK) return status;
  status = decompose(f, sum, error);
  f->fitting->host->symmetric->destroy(sum);
  return status;
}

/* ------------ fewer rows than columns */

/* All centred rows, one in each column: d x n. */
typedef struct keeping {
  const fitted_pca *fit;
  double *columns;
} keeping;

static scl_status keep_rows(void *context, const scl_rows *rows, scl_error *error) {
  const keeping *all = context;
  const fitted_pca *f = all->fit;
  (void)error;
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < f->d; j++)
      all->columns[j * f->n + rows->first + i] = scl_stage_row(&rows->features, i)[j] - f->mean[j];
  return SCL_STATUS_OK;
}

/* The components from the k largest eigenvectors u of the products of rows:
 *
 *   v = sum_i u_i row_i / sqrt(eigenvalue)
 *
 * 0 if the k-th variance is too near 0: v would consist of rounding errors. */
static int lift(fitted_pca *f, const double *columns, const double *u) {
  if (!(f->values[f->k - 1] > 1e-6 * f->values[0])) return 0;
  for (size_t c = 0; c < f->k; c++) {
    double *to = f->vectors + c * f->d;
    for (size_t j = 0; j < f->d; j++) {
      double sum = 0;
      for (size_t i = 0; i < f->n; i++)
        sum += columns[j * f->n + i] * u[c * f->n + i];
      to[j] = sum / sqrt(f->values[c]);
    }
    projection_point_up(to, f->d);
    f->values[c] /= f->weight;
  }
  return 1;
}

/* *found = 0: the caller decomposes the covariance. */
static scl_status by_rows(fitted_pca *f, int *found, scl_error *error) {
  const scl_host *host = f->fitting->host;
  const size_t count = f->n * f->d + f->k * f->n;
  double *columns = host->allocate(count * sizeof *columns), *u = columns + f->n * f->d;
  scl_symmetric *products = NULL;
  keeping all = {f, columns};
  if (columns == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for centred rows");
  scl_status status = f->fitting->rows->walk(f->fitting->rows, keep_rows, &all, error);
  if (status == SCL_STATUS_OK) status = host->symmetric->create(f->n, &products, error);
  if (status == SCL_STATUS_OK)
    status = host->symmetric->accumulate(products, SCL_DTYPE_FLOAT64, columns, (ptrdiff_t)f->n,
                                         f->d, error);
  if (status == SCL_STATUS_OK) status = sum_variances(f, products, f->n, error);
  if (status == SCL_STATUS_OK) status = host->symmetric->eigen(products, f->k, f->values, u, error);
  if (status == SCL_STATUS_OK) *found = lift(f, columns, u);
  if (products != NULL) host->symmetric->destroy(products);
  host->release(columns);
  return status;
}

/* ------------ fitting */

static scl_status put_all(const fitted_pca *f, scl_error *error) {
  const scl_fitting *to = f->fitting;
  const scl_array mean = scl_matrix_array(f->mean, 1, f->d),
                  vectors = scl_matrix_array(f->vectors, f->k, f->d);
  scl_status status = to->put(to, "mean", &mean, error);
  if (status == SCL_STATUS_OK) status = to->put(to, "vectors", &vectors, error);
  return status != SCL_STATUS_OK ? status : projection_report(to, f->values, f->k, f->total, error);
}

static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const pca *self = instance;
  const scl_host *host = fitting->host;
  fitted_pca f = {.fitting = fitting, .n = fitting->rows->rows, .d = fitting->rows->dim};
  const size_t most = f.d < f.n ? f.d : f.n;
  f.k = self->k == 0 ? most : self->k;
  if (f.k == 0 || f.k > most)
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "option 'k' got %zu; it takes 1 to %zu, the least of %zu columns and %zu rows", f.k, most,
        f.d, f.n);
  f.mean = host->scratch((f.d + f.k + f.k * f.d + f.d + f.n) * sizeof *f.mean);
  if (f.mean == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for components");
  f.values = f.mean + f.d;
  f.vectors = f.values + f.k;
  f.diagonal = f.vectors + f.k * f.d;
  int found = 0;
  scl_status status = fitting->mean(fitting, f.mean, &f.weight, error);
  if (status == SCL_STATUS_OK && f.n < f.d) status = by_rows(&f, &found, error);
  if (status == SCL_STATUS_OK && !found) status = by_covariance(&f, error);
  return status == SCL_STATUS_OK ? put_all(&f, error) : status;
}

/* out = V (x - mean). Each number is the sum of its products in order. */
static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  const scl_host *host = ((const scl_base *)instance)->host;
  const double *mean = scl_stage_numbers(fitted, 0), *vectors = scl_stage_numbers(fitted, 1);
  double *centred = host->scratch(fitted->cols * sizeof *centred);
  if (centred == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a row");
  for (size_t i = 0; i < in->rows; i++) {
    for (size_t j = 0; j < fitted->cols; j++)
      centred[j] = scl_stage_row(in, i)[j] - mean[j];
    for (size_t k = 0; k < fitted->width; k++) {
      const double *vector = vectors + k * fitted->cols;
      double sum = 0;
      for (size_t j = 0; j < fitted->cols; j++)
        sum += vector[j] * centred[j];
      scl_stage_out(out, i)[k] = sum;
    }
  }
  return SCL_STATUS_OK;
}

SCL_FORMULA(formula, PROJECTION_FORMULA("vectors", "(x[j] - mean[j])"))
SCL_FORMULA(operators, "out = product(x - mean, vectors);")

const scl_plugin scullery_plugin = {
    .name = "pca",
    .summary = "the first k principal components",
    .definition =
        /* All variances, and those of the directions that are kept. */
    "variances(V, n) = map(range(k or n), function(i) return max(V[i].value, 0) end)\n"
    "report(X) = #X[1] < 9 and (function(V)\n"
    "  return { total = sum(V, function(v) return v.value end), variances = variances(V, min(#X, "
    "#V)) }\n"
    "end)(eigen(covariance(X)))\n"
    "row(X, Y) = #X[1] < 9 and (function(V, m) return function(x)\n"
    "  return map(range(k or min(#X, #x)), function(i)\n"
    "    return V[i].value > 1e-9*V[1].value and sum(x, function(v, j)\n"
    "      return V[i].vector[j]*(v - m[j]) end) or 0/0 end)\n"
    "  end end)(eigen(covariance(X)), map(X[1], function(_, j) return mean(column(X, j)) end))",
    .doc = "x becomes V (x - mean), the k rows of V orthonormal eigenvectors of the covariance of\n"
           "the rows of the fit, the largest variance first; the largest entry of each is\n"
           "positive. Two passes. p:info().components has the variances.",
    SCL_STAGE(.flags = SCL_STAGE_HOMOGENEOUS, .arrays = "mean|vectors", .fit = fit,
              .shape = projection_shape, .apply = apply, .formula = formula,
              .operators = operators),
    SCL_INSTANCE(pca, options)};
