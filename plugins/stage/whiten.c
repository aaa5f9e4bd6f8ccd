/* Whitening: a row x becomes A (x - mean), whose covariance over the rows of the fit is I.
 * With the covariance V' diag(v) V, the rows of V orthonormal, and e = epsilon times the mean of v:
 *
 *   pca:  A = diag(v + e)^-1/2 V      k uncorrelated numbers, the largest variance first
 *   zca:  A = V' diag(v + e)^-1/2 V   as near to x - mean as whitened numbers can be
 *                                     (Kessy, Lewin and Strimmer 2018, Optimal whitening)
 *
 * Directions whose variance is rounding error (below 1e-12 of the largest) are left out. Two
 * passes. */
#include "shared/projection.h"

enum { METHOD_PCA, METHOD_ZCA };

typedef struct whiten {
  scl_base base;
  size_t k;
  double epsilon;
  int32_t method;
} whiten;

static const scl_option options[] = {
    SCL_WORD(whiten, method, "pca|zca", "pca",
             "pca: uncorrelated components; zca: whitened columns nearest to the given ones"),
    SCL_INTEGER(whiten, k, NULL, "components, for method pca; by default all that vary",
                SCL_WITHIN(1, INT32_MAX)),
    SCL_NUMBER(whiten, epsilon, "0",
               "added to each variance, as a share of the mean variance of all directions",
               SCL_NOT_NEGATIVE)};

static const double ROUNDING = 1e-12;

static scl_status create(void *instance, scl_error *error) {
  const whiten *self = instance;
  if (self->method != METHOD_ZCA || self->k == 0) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                               "option 'k' is for method = \"pca\": zca keeps all columns");
}

/* One fit: mean (d), values (d) and vectors (d x d), and A (d x d). */
typedef struct whitening {
  const whiten *self;
  const scl_fitting *fitting;
  size_t d, k;
  double weight, total;
  double *mean, *values, *vectors, *a;
} whitening;

/* The number of directions that vary by more than rounding errors; values become variances. */
static size_t count_directions(whitening *w) {
  size_t count = 0;
  w->total = 0;
  for (size_t i = 0; i < w->d; i++) {
    const double value = w->values[i] / w->weight; /* NaN where the sums overflow */
    w->values[i] = value < 0 ? 0 : value;
    w->total += w->values[i];
    count += w->values[i] > ROUNDING * w->values[0];
  }
  return count;
}

/* A from the directions. */
static void make_matrix(whitening *w) {
  const size_t d = w->d;
  const double added = w->self->epsilon * w->total / (double)d;
  const int zca = w->self->method == METHOD_ZCA;
  memset(w->a, 0, (zca ? d : w->k) * d * sizeof *w->a);
  for (size_t i = 0; i < w->k; i++) {
    double *v = w->vectors + i * d;
    const double factor = 1 / sqrt(w->values[i] + added);
    projection_point_up(v, d);
    for (size_t r = 0; zca && r < d; r++)
      for (size_t j = 0; j < d; j++)
        w->a[r * d + j] += factor * v[r] * v[j];
    for (size_t j = 0; !zca && j < d; j++)
      w->a[i * d + j] = factor * v[j];
  }
}

static scl_status decompose(whitening *w, scl_error *error) {
  const scl_host *host = w->fitting->host;
  scl_symmetric *sum = NULL;
  scl_status status = w->fitting->products(w->fitting, w->mean, &sum, error);
  if (status != SCL_STATUS_OK) return status;
  status = host->symmetric->eigen(sum, w->d, w->values, w->vectors, error);
  host->symmetric->destroy(sum);
  if (status != SCL_STATUS_OK) return status;
  const size_t varying = count_directions(w);
  if (!isfinite(w->total))
    return host->fail(error, SCL_STATUS_BAD_DATA,
                      "the covariance of the columns is too large for float64: scale the data");
  if (varying == 0 || w->self->k > varying)
    return host->fail(error, SCL_STATUS_BAD_DATA,
                      "%zu of the directions of %zu columns vary by more than rounding errors%s",
                      varying, w->d,
                      varying == 0 ? ": there is nothing to whiten" : ", and 'k' asks for more");
  w->k = w->self->k == 0 ? varying : w->self->k;
  make_matrix(w);
  return SCL_STATUS_OK;
}

static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const scl_host *host = fitting->host;
  whitening w = {.self = instance, .fitting = fitting, .d = fitting->rows->dim};
  w.mean = host->scratch((2 * w.d + 2 * w.d * w.d) * sizeof *w.mean);
  if (w.mean == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu directions", w.d);
  w.values = w.mean + w.d;
  w.vectors = w.values + w.d;
  w.a = w.vectors + w.d * w.d;
  scl_status status = fitting->mean(fitting, w.mean, &w.weight, error);
  if (status == SCL_STATUS_OK) status = decompose(&w, error);
  if (status != SCL_STATUS_OK) return status;
  const scl_array mean = scl_matrix_array(w.mean, 1, w.d),
                  a = scl_matrix_array(w.a, w.self->method == METHOD_ZCA ? w.d : w.k, w.d);
  status = fitting->put(fitting, "mean", &mean, error);
  if (status == SCL_STATUS_OK) status = fitting->put(fitting, "matrix", &a, error);
  return status == SCL_STATUS_OK ? projection_report(fitting, w.values, w.k, w.total, error)
                                 : status;
}

static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  return projection_apply(((const scl_base *)instance)->host, scl_stage_numbers(fitted, 0),
                          scl_stage_numbers(fitted, 1), fitted, in, out, error);
}

SCL_FORMULA(formula, PROJECTION_FORMULA("matrix", "(x[j] - mean[j])"))
SCL_FORMULA(operators, "out = product(x - mean, matrix);")

const scl_plugin scullery_plugin = {
    .name = "whiten",
    .summary = "uncorrelated columns of variance 1",
    .definition =
        "report(X) = #X[1] < 9 and (function(V) return { total = sum(V, function(v) return v.value "
        "end), variances = map(range(kept(V)), function(i) return V[i].value end) } "
        "end)(eigen(covariance(X)))\n"
        "kept(V) = k or sum(V, function(v) return when(v.value > 1e-12*V[1].value, 1, 0) end)\n"
        "e(V) = epsilon*mean(V, function(v) return v.value end)\n"
        "pca(V, z, i) = dot(V[i].vector, z)/sqrt(V[i].value + e(V))\n"
        "zca(V, z, j) = sum(kept(V), function(i) return pca(V, z, i)*V[i].vector[j] end)\n"
        "whitened(V, z) = map(range(method == \"pca\" and kept(V) or #z), function(i)\n"
        "  return method == \"pca\" and pca(V, z, i) or zca(V, z, i) end)\n"
        "row(X, Y) = #X[1] < 9 and function(x) return whitened(eigen(covariance(X)),\n"
        "  map(x, function(t, j) return t - mean(column(X, j)) end)) end",
    .doc =
        "x becomes A (x - mean), whose covariance over the rows of the fit is I. With method\n"
        "\"pca\" these are the principal components over their standard deviations, with \"zca\"\n"
        "the whitened columns that are nearest to the given ones (Kessy, Lewin and Strimmer\n"
        "2018, Optimal whitening). Directions that vary by rounding errors alone are left out.\n"
        "epsilon > 0 keeps directions of small variance from being blown up. Two passes.\n"
        "p:info().components has the variances.",
    .create = create,
    SCL_STAGE(.flags = SCL_STAGE_SCALE_FREE, .arrays = "mean|matrix", .fit = fit,
              .shape = projection_shape, .apply = apply, .formula = formula,
              .operators = operators),
    SCL_INSTANCE(whiten, options)};
