/* Kernel widths from one walk over the data. */
#include "rows/widths.h"

#include "base/profile.h"
#include "processes/processes.h"
#include "rows/chosen.h"
#include "rows/fitting.h"
#include "rows/joined.h"
#include <math.h>
#include <string.h>

enum { SAMPLE = 1000 }; /* rows for the median */

static double squared_distance(const double *a, const double *b, size_t count) {
  double sum = 0;
  for (size_t k = 0; k < count; k++)
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

/* The same of sparse rows i and j. */
static double sparse_distance(const scl_csr *a, size_t i, size_t j) {
  int64_t p = a->starts[i], q = a->starts[j];
  double sum = 0;
  while (p < a->starts[i + 1] || q < a->starts[j + 1]) {
    const int64_t u = p < a->starts[i + 1] ? a->columns[p] : INT64_MAX,
                  v = q < a->starts[j + 1] ? a->columns[q] : INT64_MAX;
    const double gap = (u <= v ? scl_csr_value(a, p) : 0) - (v <= u ? scl_csr_value(a, q) : 0);
    sum += gap * gap;
    p += u <= v;
    q += v <= u;
  }
  return sum;
}

static double median_of_three(double a, double b, double c) {
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Order numbers so that the one at `place` is where sorting would put it, those before it are not
 * larger and those after it not smaller (Hoare 1961, algorithms 63 and 65). */
static void select_place(double *numbers, size_t count, size_t place) {
  size_t low = 0, high = count - 1;
  while (low < high) {
    const double pivot =
        median_of_three(numbers[low], numbers[low + (high - low) / 2], numbers[high]);
    size_t i = low, j = high; /* both stop at the pivot's equals, j below high at last */
    for (;; i++, j--) {
      while (numbers[i] < pivot)
        i++;
      while (numbers[j] > pivot)
        j--;
      if (i >= j) break;
      const double number = numbers[i];
      numbers[i] = numbers[j];
      numbers[j] = number;
    }
    if (place <= j)
      high = j;
    else
      low = j + 1;
  }
}

/* The median of numbers, which are put into another order. */
static double median_of(double *numbers, size_t count) {
  const size_t place = count / 2;
  select_place(numbers, count, place);
  if (count % 2 == 1) return numbers[place];
  double below = numbers[0];
  for (size_t i = 1; i < place; i++)
    below = fmax(below, numbers[i]);
  return (below + numbers[place]) / 2;
}

/* The median of the squared distances of all pairs of a sample, which is dense or sparse. */
static scl_status median_distance(const scl_matrix *sample, const scl_csr *sparse, double *out,
                                  scl_error *error) {
  const size_t rows = sparse->rows > 0 ? sparse->rows : sample->rows, pairs = rows * (rows - 1) / 2;
  double *distance = scl_allocate_array(pairs + 1, sizeof *distance);
  size_t at = 0;
  if (distance == NULL)
    return scl_fail_memory(error, pairs * sizeof *distance, "distances of a sample");
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < i; j++)
      distance[at++] = sparse->rows > 0 ? sparse_distance(sparse, i, j)
                                        : squared_distance(scl_matrix_row(sample, i),
                                                           scl_matrix_row(sample, j), sample->cols);
  *out = median_of(distance, pairs);
  scl_release(distance);
  return SCL_STATUS_OK;
}

/* Variance of all entries of X, from the moments of its columns: the mean over columns of the
 * variance in the column and of the squared deviation of its mean. */
static double overall_variance(const scl_column_moments *m) {
  double mean = 0, sum = 0;
  for (size_t j = 0; j < m->cols; j++)
    mean += m->mean[j] / (double)m->cols;
  for (size_t j = 0; j < m->cols; j++)
    sum += m->square[j] / *m->count + (m->mean[j] - mean) * (m->mean[j] - mean);
  return sum / (double)m->cols;
}

/* A sample of evenly spaced rows, filled as the walk passes them. */
typedef struct sampling {
  scl_matrix sample;
  scl_csr sparse; /* of sparse rows, instead */
  size_t taken, rows;
} sampling;

/* Row k of a sample of m of n rows is row k n / m. */
static size_t row_of(const sampling *s, size_t k) {
  return (size_t)((double)k * (double)s->rows / (double)s->sample.rows);
}

/* Visit: copy the sampled rows of a block. */
static scl_status take_rows(void *context, const scl_flow_block *block, scl_error *error) {
  sampling *s = context;
  (void)error;
  for (; s->taken < s->sample.rows; s->taken++) {
    const size_t row = row_of(s, s->taken);
    if (row >= block->first + block->count) break;
    if (row < block->first) continue; /* of another process */
    memcpy(scl_matrix_row(&s->sample, s->taken),
           (const double *)block->x + (ptrdiff_t)(row - block->first) * block->x_stride,
           s->sample.cols * sizeof(double));
  }
  return SCL_STATUS_OK;
}

/* Sample sparse rows, in a walk of their own over all rows on every process. */
static scl_status sample_views(const scl_flow *flow, sampling *s, scl_error *error) {
  scl_flow rows = *flow;
  rows.doing = NULL;
  size_t *places = scl_allocate_array(s->sample.rows + 1, sizeof *places);
  if (places == NULL)
    return scl_fail_memory(error, s->sample.rows * sizeof *places, "a sample of rows");
  for (size_t k = 0; k < s->sample.rows; k++)
    places[k] = row_of(s, k);
  const scl_status status =
      scl_flow_pick_csr(&rows, places, s->sample.rows, &s->sparse, NULL, error);
  scl_release(places);
  return status;
}

/* Give the sampled rows of each process to all. */
static scl_status share_sample(const scl_flow *flow, size_t unit, sampling *s, scl_error *error) {
  size_t k = 0;
  SCL_TRY(scl_processes_meet(SCL_STATUS_OK, error, "a sample of %zu rows", s->sample.rows));
  for (size_t r = 0; r < scl_processes_count(); r++) {
    size_t first, end;
    const size_t from = k;
    scl_flow_part_rows(flow, unit, r, &first, &end);
    while (k < s->sample.rows && row_of(s, k) < end)
      k++;
    SCL_TRY(scl_processes_broadcast(r, scl_matrix_row(&s->sample, from),
                                    (k - from) * s->sample.cols * sizeof(double), error));
  }
  return SCL_STATUS_OK;
}

/* Both widths from the moments of the columns and the sample of one walk. */
static scl_status find_widths(const scl_column_moments *m, const sampling *s, double *scale,
                              double *median, scl_error *error) {
  const double variance = overall_variance(m);
  double distance = 0;
  if (!(variance > 0))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "a width from the data: all numbers of X are the same");
  SCL_TRY(median_distance(&s->sample, &s->sparse, &distance, error));
  *scale = 1 / ((double)m->cols * variance);
  *median = distance > 0 ? 1 / distance : *scale; /* else more than half of the pairs coincide */
  return SCL_STATUS_OK;
}

scl_status scl_flow_widths(const scl_flow *flow, double *scale, double *median, scl_error *error) {
  const size_t rows = flow->source->rows, cols = scl_flow_cols(flow);
  sampling s = {.rows = rows};
  scl_column_moments moments;
  if (rows < 2 || cols == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "a width from the data needs at least 2 rows and 1 column");
  const bool sparse = scl_flow_has_csr(flow);
  s.sample.rows = scl_min(SAMPLE, rows);
  if (!sparse)
    SCL_TRY(scl_matrix_create_raw(s.sample.rows, cols, SCL_DTYPE_FLOAT64, &s.sample, error));
  const size_t mark = scl_profile_enter("widths");
  scl_status status = scl_flow_moments(flow, sparse ? NULL : take_rows, &s, &moments, error);
  if (status == SCL_STATUS_OK) {
    const size_t unit = sparse ? 0 : scl_flow_moments_unit(flow);
    if (sparse) status = sample_views(flow, &s, error);
    if (unit > 0) status = share_sample(flow, unit, &s, error);
    if (status == SCL_STATUS_OK) status = find_widths(&moments, &s, scale, median, error);
    scl_column_moments_destroy(&moments);
  }
  scl_profile_leave(mark, 0, 0);
  scl_matrix_release(&s.sample);
  scl_csr_release(&s.sparse);
  return status;
}
