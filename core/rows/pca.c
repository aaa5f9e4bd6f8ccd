/* Principal components of staged rows or of features. Two walks over the rows, or one and a
 * product of rows where there are fewer rows than columns. */
#include "rows/pca.h"

#include "algebra/dense.h"
#include "algebra/symmetric.h"
#include "rows/joined.h"
#include <math.h>
#include <string.h>

/* Sums of D numbers (Kahan-Babuska-Neumaier: `rest` is the rounding error of `sum`; Neumaier 1974),
 * the sum of the weights, and the least and largest number of each column. */
typedef struct mean_part {
  double *total, *sum, *rest, *low, *high; /* 4 D + 1 numbers in one piece */
} mean_part;

/* One step of Neumaier's compensated sum of column j. */
static void add_number(mean_part *p, size_t j, double number) {
  const double before = p->sum[j];
  p->sum[j] += number;
  p->rest[j] +=
      fabs(before) >= fabs(number) ? (before - p->sum[j]) + number : (number - p->sum[j]) + before;
}

/* Slots of the reduction: parts are made, merged in a fixed order, and released. */
static scl_status open_mean(void *context, void **part, scl_error *error) {
  const size_t d = *(const size_t *)context,
               bytes = sizeof(mean_part) + (4 * d + 1) * sizeof(double);
  mean_part *p = scl_allocate_zero(bytes);
  if (p == NULL) return scl_fail_memory(error, bytes, "sums of features");
  p->total = (double *)(void *)(p + 1);
  p->sum = p->total + 1;
  p->rest = p->sum + d;
  p->low = p->rest + d;
  p->high = p->low + d;
  for (size_t j = 0; j < d; j++) {
    p->low[j] = INFINITY;
    p->high[j] = -INFINITY;
  }
  *part = p;
  return SCL_STATUS_OK;
}

static scl_status merge_means(void *context, void *into, void *from, scl_error *error) {
  const size_t d = *(const size_t *)context;
  mean_part *to = into;
  const mean_part *other = from;
  (void)error;
  for (size_t j = 0; j < d; j++) {
    add_number(to, j, other->sum[j]);
    to->rest[j] += other->rest[j];
    to->low[j] = fmin(to->low[j], other->low[j]);
    to->high[j] = fmax(to->high[j], other->high[j]);
  }
  *to->total += *other->total;
  return SCL_STATUS_OK;
}

static void close_mean(void *context, void *part) {
  (void)context;
  scl_release(part);
}

static void *memory_of_mean(void *context, void *part) {
  (void)context;
  return ((mean_part *)part)->total;
}

typedef struct averaging {
  const scl_flow *flow;
  scl_reducer reducer;
} averaging;

/* Visit: add a block to the part that its place in the source belongs to, so that the sums do not
 * depend on the number of threads. */
static scl_status add_to_mean(void *context, const scl_flow_block *block, scl_error *error) {
  averaging *a = context;
  const size_t d = scl_flow_features(a->flow);
  void *part;
  SCL_TRY(scl_reducer_at(&a->reducer, block->first, &part, error));
  mean_part *p = part;
  for (size_t i = 0; i < block->count; i++) {
    const double weight = scl_flow_weight(block, i);
    const void *row = scl_flow_row(a->flow, block, i);
    for (size_t j = 0; j < d; j++) {
      const double number = scl_number(row, a->flow->dtype, j);
      add_number(p, j, weight * number);
      p->low[j] = number < p->low[j] ? number : p->low[j];
      p->high[j] = number > p->high[j] ? number : p->high[j];
    }
    *p->total += weight;
  }
  return SCL_STATUS_OK;
}

/* mean (D) = the weighted means, and *total = the sum of the weights. The rounding errors of the
 * sums are only added in columns far from 0; all other means are plain sums. */
static scl_status find_mean(const scl_flow *flow, double *mean, double *total, scl_error *error) {
  size_t d = scl_flow_features(flow);
  const scl_reduction sum = {&d,          d * sizeof(double), open_mean,
                             merge_means, close_mean,         memory_of_mean};
  averaging a = {flow, scl_reducer_of(&sum, flow->source->rows)};
  void *part;
  SCL_TRY(scl_reducer_walk(&a.reducer, flow, true, (4 * d + 1) * sizeof(double), add_to_mean, &a,
                           "means", &part, error));
  const mean_part *p = part;
  *total = *p->total;
  for (size_t j = 0; j < d; j++)
    mean[j] = scl_column_far(p->sum[j] / *total, p->low[j], p->high[j])
                  ? (p->sum[j] + p->rest[j]) / *total
                  : p->sum[j] / *total;
  scl_release(part);
  return SCL_STATUS_OK;
}

static scl_status open_covariance(void *context, void **part, scl_error *error) {
  scl_symmetric *covariance;
  SCL_TRY(scl_symmetric_create(*(const size_t *)context, &covariance, error));
  *part = covariance;
  return SCL_STATUS_OK;
}

static scl_status merge_covariances(void *context, void *into, void *from, scl_error *error) {
  (void)context, (void)error;
  scl_service_symmetric.add(1, from, into);
  return SCL_STATUS_OK;
}

static void close_covariance(void *context, void *part) {
  (void)context;
  scl_symmetric_destroy(part);
}

static void *memory_of_covariance(void *context, void *part) {
  (void)context;
  return scl_symmetric_numbers(part);
}

typedef struct spreading {
  const scl_flow *flow;
  const double *mean;
  scl_reducer reducer;
} spreading;

/* Visit: add the products of a block's centred rows, times the roots of their weights. */
static scl_status add_to_covariance(void *context, const scl_flow_block *block, scl_error *error) {
  spreading *s = context;
  const size_t d = scl_flow_features(s->flow);
  void *part;
  SCL_TRY(scl_reducer_at(&s->reducer, block->first, &part, error));
  double *centred = scl_allocate_array(block->count * d + 1, sizeof *centred);
  if (centred == NULL)
    return scl_fail_memory(error, block->count * d * sizeof *centred, "centred rows");
  for (size_t i = 0; i < block->count; i++) {
    const double root = sqrt(scl_flow_weight(block, i));
    const void *row = scl_flow_row(s->flow, block, i);
    for (size_t j = 0; j < d; j++)
      centred[i * d + j] = root * (scl_number(row, s->flow->dtype, j) - s->mean[j]);
  }
  const scl_status status =
      scl_symmetric_accumulate(part, SCL_DTYPE_FLOAT64, centred, (ptrdiff_t)d, block->count, error);
  scl_release(centred);
  return status;
}

/* Second walk: the sum of w (x - mean)(x - mean)', D x D. */
static scl_status find_covariance(const scl_flow *flow, const double *mean, scl_symmetric **out,
                                  scl_error *error) {
  size_t d = scl_flow_features(flow);
  const scl_reduction sum = {&d,
                             d * d * sizeof(double) / 2,
                             open_covariance,
                             merge_covariances,
                             close_covariance,
                             memory_of_covariance};
  spreading s = {flow, mean, scl_reducer_of(&sum, flow->source->rows)};
  void *part;
  SCL_TRY(scl_reducer_walk(&s.reducer, flow, true, (size_t)scl_symmetric_bytes((double)d),
                           add_to_covariance, &s, "a covariance", &part, error));
  *out = part;
  return SCL_STATUS_OK;
}

/* Fix the sign of a component: its largest entry becomes positive. */
static void point_up(double *vector, size_t d) {
  size_t largest = 0;
  for (size_t j = 1; j < d; j++)
    if (fabs(vector[j]) > fabs(vector[largest])) largest = j;
  const double sign = vector[largest] < 0 ? -1 : 1;
  for (size_t j = 0; j < d; j++)
    vector[j] *= sign;
}

/* out->total = the sum of all variances. Fails where it overflowed. diagonal: room for `order`
 * numbers. */
static scl_status sum_variances(const scl_symmetric *sum, double total, size_t order,
                                double *diagonal, scl_components *out, scl_error *error) {
  scl_service_symmetric.diagonal(sum, diagonal);
  out->total = 0;
  for (size_t j = 0; j < order; j++)
    out->total += diagonal[j] / total;
  if (isfinite(out->total)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "the covariance of the columns is too large for float64: scale the data");
}

/* The k largest eigenvectors of a D x D sum of centred products, and their variances:
 * eigenvalues divided by the total weight, 0 where rounding made them negative. */
static scl_status decompose(const scl_symmetric *sum, double total, size_t k, size_t d,
                            scl_components *out, scl_error *error) {
  double *room = scl_allocate_array(d + k + k * d + 1, sizeof *room);
  if (room == NULL) return scl_fail_memory(error, (d + k + k * d) * sizeof *room, "components");
  double *values = room + d, *vectors = values + k;
  scl_status status = sum_variances(sum, total, d, room, out, error);
  if (status == SCL_STATUS_OK) status = scl_service_symmetric.eigen(sum, k, values, vectors, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < k; i++) {
    point_up(vectors + i * d, d);
    memcpy(scl_matrix_row(&out->vectors, i), vectors + i * d, d * sizeof *vectors);
    *scl_matrix_row(&out->variances, i) = fmax(values[i] / total, 0);
  }
  scl_release(room);
  return status;
}

/* ------------------------------------------------------------ fewer rows than columns */

/* All centred rows, times the roots of their weights, one in each column: d x n. */
typedef struct keeping {
  const scl_flow *flow;
  const double *mean;
  double *columns;
  size_t n;
} keeping;

/* Visit: store a block as columns. */
static scl_status keep_rows(void *context, const scl_flow_block *block, scl_error *error) {
  const keeping *all = context;
  const size_t d = scl_flow_features(all->flow);
  (void)error;
  for (size_t i = 0; i < block->count; i++) {
    const double root = sqrt(scl_flow_weight(block, i));
    const void *row = scl_flow_row(all->flow, block, i);
    for (size_t j = 0; j < d; j++)
      all->columns[j * all->n + block->first + i] =
          root * (scl_number(row, all->flow->dtype, j) - all->mean[j]);
  }
  return SCL_STATUS_OK;
}

/* The components from the k largest eigenvectors u of the products of rows:
 *
 *   v = sum_i u_i row_i / sqrt(eigenvalue)
 *
 * False if the k-th variance is too near 0: v would consist of rounding errors. */
static bool lift_vectors(const keeping *all, const double *values, const double *vectors,
                         double total, size_t k, scl_components *out) {
  const size_t d = scl_flow_features(all->flow);
  if (!(values[k - 1] > 1e-6 * values[0])) return false;
  for (size_t c = 0; c < k; c++) {
    double *to = scl_matrix_row(&out->vectors, c);
    for (size_t j = 0; j < d; j++) {
      double sum = 0;
      for (size_t i = 0; i < all->n; i++)
        sum += all->columns[j * all->n + i] * vectors[c * all->n + i];
      to[j] = sum / sqrt(values[c]);
    }
    point_up(to, d);
    *scl_matrix_row(&out->variances, c) = values[c] / total;
  }
  return true;
}

/* Walk the rows into all->columns, decompose their products, and lift the eigenvectors to
 * components. room: n + k + k n numbers. */
static scl_status by_products(keeping *all, double total, size_t k, scl_components *out,
                              double *room, bool *found, scl_error *error) {
  const size_t d = scl_flow_features(all->flow), n = all->n;
  scl_symmetric *products = NULL;
  double *values = room + n, *vectors = values + k;
  SCL_TRY(scl_flow_walk(all->flow, true, keep_rows, all, error));
  SCL_TRY(scl_symmetric_create(n, &products, error));
  scl_status status =
      scl_symmetric_accumulate(products, SCL_DTYPE_FLOAT64, all->columns, (ptrdiff_t)n, d, error);
  if (status == SCL_STATUS_OK) status = sum_variances(products, total, n, room, out, error);
  if (status == SCL_STATUS_OK)
    status = scl_service_symmetric.eigen(products, k, values, vectors, error);
  if (status == SCL_STATUS_OK) *found = lift_vectors(all, values, vectors, total, k, out);
  scl_symmetric_destroy(products);
  return status;
}

/* Components from the n x n products of centred rows: fewer rows than columns, so their non-zero
 * eigenvalues are those of the covariance. *found = false: the caller decomposes the covariance. */
static scl_status fit_few_rows(const scl_flow *flow, double total, size_t k, scl_components *out,
                               bool *found, scl_error *error) {
  const size_t n = flow->source->rows, d = scl_flow_features(flow);
  const size_t count = n * d + n + k + k * n + 1;
  double *room = scl_allocate_array(count, sizeof *room);
  if (room == NULL) return scl_fail_memory(error, count * sizeof *room, "centred rows");
  keeping all = {flow, out->mean.data, room, n};
  const scl_status status = by_products(&all, total, k, out, room + n * d, found, error);
  scl_release(room);
  return status;
}

/* ------------------------------------------------------------ fitting */

static scl_status make_room(size_t k, size_t d, scl_components *out, scl_error *error) {
  SCL_TRY(scl_matrix_create(k, d, SCL_DTYPE_FLOAT64, &out->vectors, error));
  SCL_TRY(scl_matrix_create(1, d, SCL_DTYPE_FLOAT64, &out->mean, error));
  return scl_matrix_create(k, 1, SCL_DTYPE_FLOAT64, &out->variances, error);
}

/* Check the number of components against the shape of the data. */
static scl_status check_count(size_t rows, size_t k, size_t d, scl_error *error) {
  if (rows == 0) return scl_fail(error, SCL_STATUS_BAD_DATA, "there are no rows to fit on");
  if (k == 0 || k > d || k > rows)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "option 'k' got %zu; it takes 1 to %zu, the least of %zu columns and %zu rows",
                    k, scl_min(d, rows), d, rows);
  return SCL_STATUS_OK;
}

/* Means, then components from the products of rows if these are fewer than columns, else (or if
 * that is not accurate) from the covariance. */
static scl_status fit_components(const scl_flow *flow, size_t k, scl_components *out,
                                 scl_error *error) {
  const size_t d = scl_flow_features(flow);
  scl_symmetric *covariance = NULL;
  double total;
  SCL_TRY(make_room(k, d, out, error));
  SCL_TRY(find_mean(flow, out->mean.data, &total, error));
  bool found = false;
  if (flow->source->rows < d) SCL_TRY(fit_few_rows(flow, total, k, out, &found, error));
  if (found) return SCL_STATUS_OK;
  SCL_TRY(find_covariance(flow, out->mean.data, &covariance, error));
  const scl_status status = decompose(covariance, total, k, d, out, error);
  scl_symmetric_destroy(covariance);
  return status;
}

scl_status scl_pca(const scl_flow *flow, size_t k, scl_components *out, scl_error *error) {
  const size_t d = scl_flow_features(flow);
  scl_flow plain = *flow;
  *out = (scl_components){0};
  plain.group = NULL;
  if (plain.map == NULL) plain.dtype = SCL_DTYPE_FLOAT64;
  if (scl_flow_entries(flow) > 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "one-hot features have too many columns for a covariance");
  SCL_TRY(check_count(flow->source->rows, k, d, error));
  const scl_status status = fit_components(&plain, k, out, error);
  if (status == SCL_STATUS_OK) return SCL_STATUS_OK;
  scl_matrix_release(&out->vectors);
  scl_matrix_release(&out->mean);
  scl_matrix_release(&out->variances);
  return status;
}
