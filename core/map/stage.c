/* Moments of columns, and the stages that are fitted from them. */
#include "map/stage.h"

#include "base/loops.h"
#include "base/pool.h"
#include <math.h>
#include <string.h>

scl_status scl_column_moments_create(size_t cols, scl_column_moments *out, scl_error *error) {
  *out = (scl_column_moments){.cols = cols};
  out->mean = scl_allocate_zero((5 * cols + 1) * sizeof(double));
  if (out->mean == NULL)
    return scl_fail_memory(error, 5 * cols * sizeof(double), "column statistics");
  out->square = out->mean + cols;
  out->low = out->square + cols;
  out->high = out->low + cols;
  out->rest = out->high + cols;
  out->count = out->rest + cols;
  for (size_t j = 0; j < cols; j++) {
    out->low[j] = INFINITY;
    out->high[j] = -INFINITY;
  }
  return SCL_STATUS_OK;
}

void scl_column_moments_destroy(scl_column_moments *m) {
  scl_release(m->mean);
  memset(m, 0, sizeof *m);
}

/* A strip of columns of one block: its own mean and squares first, then merged, so that each number
 * meets only numbers of its own size. */
enum { STRIP = 64 };

typedef struct moments_block {
  scl_column_moments *m;
  const double *x;
  ptrdiff_t stride;
  size_t count;
  const double *weights; /* or NULL: all 1 */
  double total;          /* of the weights */
} moments_block;

static double weight_of(const moments_block *job, size_t i) {
  return job->weights == NULL ? 1 : job->weights[i];
}

bool scl_column_far(double mean, double low, double high) { return fabs(mean) > 32 * (high - low); }

/* Merge n numbers with this mean (+ rest) and sum of squared deviations into column j (Chan, Golub
 * and LeVeque 1983). low and high of the column already cover all numbers. */
static void merge_column(scl_column_moments *m, size_t j, double mean, double rest, double square,
                         double n) {
  const double all = *m->count + n, gap = (mean - m->mean[j]) + (rest - m->rest[j]),
               step = gap * (n / all), before = m->mean[j];
  m->square[j] += square + gap * gap * (*m->count * n / all);
  m->mean[j] += step;
  if (!scl_column_far(m->mean[j], m->low[j], m->high[j]))
    m->rest[j] = 0;
  else if (*m->count == 0)
    m->rest[j] = (mean - m->mean[j]) + rest;
  else
    m->rest[j] += step - (m->mean[j] - before);
}

/* The rounding error of the mean of a block's column: the mean of the deviations from it. */
static double rest_of(const moments_block *job, size_t column, double mean) {
  double sum = 0;
  for (size_t i = 0; i < job->count; i++)
    sum += weight_of(job, i) * (job->x[(ptrdiff_t)i * job->stride + (ptrdiff_t)column] - mean);
  return sum / job->total;
}

/* Task: add one strip of columns of a block. The mean and the squared deviations of the block
 * come from two passes over it. */
static void add_strip(void *context, size_t index) {
  const moments_block *job = context;
  scl_column_moments *m = job->m;
  const size_t first = index * STRIP, cols = scl_min(STRIP, m->cols - first);
  double mean[STRIP] = {0}, square[STRIP] = {0};
  for (size_t i = 0; i < job->count; i++) {
    const double *row = job->x + (ptrdiff_t)i * job->stride + first, weight = weight_of(job, i);
    for (size_t j = 0; weight > 0 && j < cols; j++) {
      mean[j] += weight * row[j];
      m->low[first + j] = row[j] < m->low[first + j] ? row[j] : m->low[first + j];
      m->high[first + j] = row[j] > m->high[first + j] ? row[j] : m->high[first + j];
    }
  }
  for (size_t j = 0; j < cols; j++)
    mean[j] /= job->total;
  for (size_t i = 0; i < job->count; i++) {
    const double *row = job->x + (ptrdiff_t)i * job->stride + first, weight = weight_of(job, i);
    for (size_t j = 0; j < cols; j++)
      square[j] += weight * (row[j] - mean[j]) * (row[j] - mean[j]);
  }
  for (size_t j = 0; j < cols; j++) {
    const bool far = scl_column_far(mean[j], m->low[first + j], m->high[first + j]);
    merge_column(m, first + j, mean[j], far ? rest_of(job, first + j, mean[j]) : 0, square[j],
                 job->total);
  }
}

void scl_column_moments_add(scl_column_moments *m, const double *x, ptrdiff_t stride, size_t count,
                            const double *weights) {
  moments_block job = {m, x, stride, count, weights, 0};
  for (size_t i = 0; i < count; i++)
    job.total += weight_of(&job, i);
  if (!(job.total > 0)) return;
  scl_pool_run((m->cols + STRIP - 1) / STRIP, add_strip, &job);
  *m->count += job.total;
}

void scl_column_moments_merge(scl_column_moments *into, const scl_column_moments *from) {
  if (*from->count == 0) return;
  for (size_t j = 0; j < into->cols; j++) {
    into->low[j] = fmin(into->low[j], from->low[j]);
    into->high[j] = fmax(into->high[j], from->high[j]);
    merge_column(into, j, from->mean[j], from->rest[j], from->square[j], *from->count);
  }
  *into->count += *from->count;
}

const char *scl_stage_name(scl_stage_kind kind) {
  static const char *const names[] = {"standardize", "minmax",    "normalize", "add_bias",
                                      "pca",         "relevance", "select"};
  return names[kind];
}

bool scl_stage_needs_moments(scl_stage_kind kind) {
  return kind == SCL_STANDARDIZE || kind == SCL_MINMAX;
}

/* Whether a stage of this kind has a shift and a factor for each column. */
static bool scales_columns(scl_stage_kind kind) {
  return scl_stage_needs_moments(kind) || kind == SCL_RELEVANCE;
}

/* Shift and factor of column j. A constant column becomes 0: its shift is its value, its factor
 * 1. `square` is the sum of squared deviations: the deviation is that of the population (count, not
 * count - 1). */
static void set_column(scl_stage *stage, const scl_column_moments *m, size_t j) {
  const bool constant = !(m->high[j] > m->low[j]);
  const double deviation = sqrt(m->square[j] / *m->count), range = m->high[j] - m->low[j];
  const bool standardize = stage->kind == SCL_STANDARDIZE;
  const double size = standardize ? deviation : range;
  stage->shift[j] = constant || !standardize ? m->low[j] : m->mean[j] + m->rest[j];
  stage->factor[j] = constant || !(size > 0) ? 1 : 1 / size;
  stage->constant += constant;
}

/* A stage with room for what its kind learns, set to 0. */
static scl_status allocate_stage(scl_stage_kind kind, size_t cols, scl_stage **out,
                                 scl_error *error) {
  scl_stage *stage = scl_allocate_zero(sizeof *stage);
  if (stage == NULL) return scl_fail_memory(error, sizeof *stage, "a stage");
  *stage =
      (scl_stage){.kind = kind, .cols_in = cols, .cols_out = cols + (kind == SCL_ADD_BIAS ? 1 : 0)};
  *out = stage;
  if (!scales_columns(kind)) return SCL_STATUS_OK;
  stage->shift = scl_allocate_zero((2 * cols + 1) * sizeof(double));
  if (stage->shift == NULL) {
    scl_release(stage);
    return scl_fail_memory(error, 2 * cols * sizeof(double), "a stage");
  }
  stage->factor = stage->shift + cols;
  return SCL_STATUS_OK;
}

scl_status scl_stage_create(scl_stage_kind kind, size_t cols, const scl_column_moments *moments,
                            scl_stage **out, scl_error *error) {
  SCL_TRY(allocate_stage(kind, cols, out, error));
  for (size_t j = 0; scl_stage_needs_moments(kind) && j < cols; j++)
    set_column(*out, moments, j);
  return SCL_STATUS_OK;
}

scl_status scl_stage_restore(scl_stage_kind kind, size_t cols, const double *shift,
                             const double *factor, size_t constant, scl_stage **out,
                             scl_error *error) {
  SCL_TRY(allocate_stage(kind, cols, out, error));
  (*out)->constant = constant;
  if (!scales_columns(kind)) return SCL_STATUS_OK;
  memcpy((*out)->shift, shift, cols * sizeof *shift);
  memcpy((*out)->factor, factor, cols * sizeof *factor);
  return SCL_STATUS_OK;
}

scl_status scl_stage_create_projection(const scl_matrix *vectors, const double *mean,
                                       scl_stage **out, scl_error *error) {
  const size_t k = vectors->rows, cols = vectors->cols;
  scl_stage *stage = scl_allocate_zero(sizeof *stage);
  if (stage == NULL) return scl_fail_memory(error, sizeof *stage, "a stage");
  *stage = (scl_stage){.kind = SCL_PROJECT, .cols_in = cols, .cols_out = k};
  stage->shift = scl_allocate_array((k + 1) * cols + 1, sizeof(double));
  if (stage->shift == NULL) {
    scl_release(stage);
    return scl_fail_memory(error, (k + 1) * cols * sizeof(double), "a stage");
  }
  stage->factor = stage->shift + cols;
  memcpy(stage->shift, mean, cols * sizeof *mean);
  for (size_t i = 0; i < k; i++)
    memcpy(stage->factor + i * cols, scl_matrix_row(vectors, i), cols * sizeof(double));
  *out = stage;
  return SCL_STATUS_OK;
}

scl_status scl_stage_create_selection(size_t cols, const double *columns, size_t count,
                                      scl_stage **out, scl_error *error) {
  if (count == 0) return scl_fail(error, SCL_STATUS_BAD_OPTION, "select: no columns");
  for (size_t i = 0; i < count; i++)
    if (!(columns[i] >= 1 && columns[i] <= (double)cols) || columns[i] != floor(columns[i]))
      return scl_fail(error, SCL_STATUS_BAD_OPTION,
                      "select: column %.15g is selected, and columns 1 to %zu arrive", columns[i],
                      cols);
  scl_stage *stage = scl_allocate_zero(sizeof *stage);
  if (stage == NULL) return scl_fail_memory(error, sizeof *stage, "a stage");
  *stage = (scl_stage){.kind = SCL_SELECT, .cols_in = cols, .cols_out = count};
  stage->factor = scl_allocate_array(count + 1, sizeof *columns);
  if (stage->factor == NULL) {
    scl_release(stage);
    return scl_fail_memory(error, count * sizeof *columns, "a stage");
  }
  memcpy(stage->factor, columns, count * sizeof *columns);
  *out = stage;
  return SCL_STATUS_OK;
}

/* Stages that build their result behind the row need room for both. */
size_t scl_stage_room(const scl_stage *stage) {
  const bool behind = stage->kind == SCL_PROJECT || stage->kind == SCL_SELECT;
  return behind ? stage->cols_in + stage->cols_out : scl_max(stage->cols_in, stage->cols_out);
}

void scl_stage_destroy(scl_stage *stage) {
  if (stage == NULL) return;
  scl_release(stage->kind == SCL_SELECT ? stage->factor : stage->shift); /* one allocation */
  scl_release(stage);
}

/* Scaled by the largest entry first, so that no square overflows or vanishes. */
static void normalize_row(double *row, size_t cols) {
  double largest = 0, sum = 0;
  for (size_t j = 0; j < cols; j++)
    largest = fmax(largest, fabs(row[j]));
  if (largest == 0) return;
  for (size_t j = 0; j < cols; j++)
    sum += (row[j] / largest) * (row[j] / largest);
  const double size = sqrt(sum);
  for (size_t j = 0; j < cols; j++)
    row[j] = row[j] / largest / size;
}

/* row = vectors (row - mean). The result is built behind the row, which has room for both, and
 * moved to its beginning. */
static void project_row(const scl_stage *stage, double *row) {
  double *out = row + stage->cols_in;
  for (size_t j = 0; j < stage->cols_in; j++)
    row[j] -= stage->shift[j];
  for (size_t i = 0; i < stage->cols_out; i++) {
    const double *vector = stage->factor + i * stage->cols_in;
    double sum = 0;
    for (size_t j = 0; j < stage->cols_in; j++)
      sum += vector[j] * row[j];
    out[i] = sum;
  }
  memmove(row, out, stage->cols_out * sizeof *row);
}

static void select_columns(const scl_stage *stage, double *row) {
  double *out = row + stage->cols_in;
  for (size_t i = 0; i < stage->cols_out; i++)
    out[i] = row[(size_t)stage->factor[i] - 1];
  memmove(row, out, stage->cols_out * sizeof *row);
}

void scl_stage_apply(const scl_stage *stage, double *row) {
  if (stage->kind == SCL_PROJECT)
    project_row(stage, row);
  else if (stage->kind == SCL_SELECT)
    select_columns(stage, row);
  else if (stage->kind == SCL_NORMALIZE)
    normalize_row(row, stage->cols_in);
  else if (stage->kind == SCL_ADD_BIAS)
    row[stage->cols_in] = 1;
  else
    scl_loops_get()->affine_f64(stage->cols_in, row, stage->shift, stage->factor, row);
}
