/* Moments of the columns of sparse rows, from their numbers alone: those of the numbers that are
 * stored, and at the end those of the zeros, which are added as one (mean 0, no deviation). */
#include "rows/moments_csr.h"

#include "rows/joined.h"
#include <math.h>
#include <string.h>

/* Five numbers for each column: of the stored numbers the sum of the weights, the mean, the sum of
 * squared deviations, the least and the largest; and the sum of the weights of all rows. */
typedef struct csr_moments {
  double *weight, *mean, *square, *low, *high, *total; /* one piece of memory, from weight on */
} csr_moments;

static scl_status open_moments(void *context, void **part, scl_error *error) {
  const size_t cols = *(const size_t *)context, numbers = 5 * cols + 1;
  csr_moments *m = scl_allocate_zero(sizeof *m + numbers * sizeof(double));
  if (m == NULL) return scl_fail_memory(error, numbers * sizeof(double), "column statistics");
  m->weight = (double *)(void *)(m + 1);
  m->mean = m->weight + cols;
  m->square = m->mean + cols;
  m->low = m->square + cols;
  m->high = m->low + cols;
  m->total = m->high + cols;
  for (size_t j = 0; j < cols; j++) {
    m->low[j] = INFINITY;
    m->high[j] = -INFINITY;
  }
  *part = m;
  return SCL_STATUS_OK;
}

/* Merge numbers of this weight, mean and sum of squared deviations into a column (Chan, Golub and
 * LeVeque 1983). */
static void merge_column(csr_moments *m, size_t j, double weight, double mean, double square) {
  if (!(weight > 0)) return;
  const double all = m->weight[j] + weight, gap = mean - m->mean[j];
  m->square[j] += square + gap * gap * (m->weight[j] * weight / all);
  m->mean[j] += gap * (weight / all);
  m->weight[j] = all;
}

static scl_status merge_moments(void *context, void *into, void *from, scl_error *error) {
  const size_t cols = *(const size_t *)context;
  csr_moments *m = into;
  const csr_moments *other = from;
  (void)error;
  for (size_t j = 0; j < cols; j++) {
    m->low[j] = fmin(m->low[j], other->low[j]);
    m->high[j] = fmax(m->high[j], other->high[j]);
    merge_column(m, j, other->weight[j], other->mean[j], other->square[j]);
  }
  *m->total += *other->total;
  return SCL_STATUS_OK;
}

static void close_moments(void *context, void *part) {
  (void)context;
  scl_release(part);
}

static void *memory_of_moments(void *context, void *part) {
  (void)context;
  return ((csr_moments *)part)->weight;
}

typedef struct summing {
  scl_reducer reducer;
  scl_flow_visit also;
  void *context;
} summing;

/* Visit: add a block, number by number (Welford 1962, with weights: West 1979). */
static scl_status add_block(void *context, const scl_flow_block *block, scl_error *error) {
  summing *s = context;
  const scl_csr *rows = block->csr;
  void *part;
  SCL_TRY(scl_reducer_at(&s->reducer, block->first, &part, error));
  csr_moments *m = part;
  for (size_t i = 0; i < block->count; i++) {
    const double weight = scl_flow_weight(block, i);
    if (!(weight > 0)) continue;
    *m->total += weight;
    for (int64_t k = rows->starts[i]; k < rows->starts[i + 1]; k++) {
      const size_t j = (size_t)rows->columns[k];
      const double value = scl_csr_value(rows, k), gap = value - m->mean[j];
      m->weight[j] += weight;
      m->mean[j] += gap * (weight / m->weight[j]);
      m->square[j] += weight * gap * (value - m->mean[j]);
      m->low[j] = fmin(m->low[j], value);
      m->high[j] = fmax(m->high[j], value);
    }
  }
  return s->also == NULL ? SCL_STATUS_OK : s->also(s->context, block, error);
}

/* *out = the moments with those of the zeros. */
static scl_status add_zeros(csr_moments *m, size_t cols, scl_column_moments *out,
                            scl_error *error) {
  SCL_TRY(scl_column_moments_create(cols, out, error));
  *out->count = *m->total;
  for (size_t j = 0; j < cols; j++) {
    const double zeros = *m->total - m->weight[j];
    if (zeros > 0) {
      m->low[j] = fmin(m->low[j], 0);
      m->high[j] = fmax(m->high[j], 0);
      merge_column(m, j, zeros, 0, 0);
    }
    out->mean[j] = m->mean[j];
    out->square[j] = m->square[j];
    out->low[j] = m->low[j];
    out->high[j] = m->high[j];
  }
  return SCL_STATUS_OK;
}

static scl_reduction moments_of(size_t *cols) {
  return (scl_reduction){cols,          5 * *cols * sizeof(double), open_moments, merge_moments,
                         close_moments, memory_of_moments};
}

size_t scl_csr_moments_unit(const scl_flow *flow) {
  size_t cols = scl_flow_cols(flow);
  const scl_reduction sum = moments_of(&cols);
  const scl_reducer reducer = scl_reducer_of(&sum, flow->source->rows);
  return scl_reducer_divides(&reducer, flow) ? reducer.leaf_rows : 0;
}

scl_status scl_csr_moments(const scl_flow *flow, scl_flow_visit also, void *context,
                           scl_column_moments *out, scl_error *error) {
  size_t cols = scl_flow_cols(flow);
  scl_flow walked = scl_flow_of_rows(flow);
  walked.csr = true;
  const scl_reduction sum = moments_of(&cols);
  summing s = {scl_reducer_of(&sum, flow->source->rows), also, context};
  void *part;
  SCL_TRY(scl_reducer_walk(&s.reducer, &walked, false, (5 * cols + 1) * sizeof(double), add_block,
                           &s, "means and deviations", &part, error));
  const scl_status status = add_zeros(part, cols, out, error);
  scl_release(part);
  return status;
}
