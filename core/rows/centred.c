/* Means and products of centred rows, by a walk each. */
#include "rows/centred.h"

#include "rows/joined.h"
#include <math.h>

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

/* The rounding errors of the sums are only added in columns far from 0; all other means are plain
 * sums. */
scl_status scl_flow_mean(const scl_flow *flow, double *mean, double *total, scl_error *error) {
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
  size_t size;
  return scl_symmetric_numbers(part, &size);
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

scl_status scl_flow_products(const scl_flow *flow, const double *mean, scl_symmetric **out,
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
