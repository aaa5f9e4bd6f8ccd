/* Moments of columns, and fitted stages. */
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

void scl_column_moments_list(const scl_column_moments *m, scl_stage_column *out) {
  for (size_t j = 0; j < m->cols; j++)
    out[j] =
        (scl_stage_column){*m->count, m->mean[j], m->rest[j], m->square[j], m->low[j], m->high[j]};
}

/* ------------ named arrays */

static size_t bytes_of(scl_dtype dtype) {
  return dtype == SCL_DTYPE_FLOAT64 || dtype == SCL_DTYPE_INT64   ? 8
         : dtype == SCL_DTYPE_FLOAT32 || dtype == SCL_DTYPE_INT32 ? 4
                                                                  : 0;
}

/* Type, rank and sizes that an array of a stage may have; *count: of its numbers. */
static scl_status check_array(const char *name, const scl_array *array, size_t *count,
                              scl_error *error) {
  *count = 1;
  for (uint32_t i = 0; i < array->rank && i < 4; i++) {
    if (array->sizes[i] != 0 && *count > ((size_t)1 << 48) / array->sizes[i])
      return scl_fail(error, SCL_STATUS_INTERNAL, "the array '%s' is too large", name);
    *count *= array->sizes[i];
  }
  if (array->rank > 4 || bytes_of(array->dtype) == 0 || (*count > 0 && array->data == NULL))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "the array '%s' has dtype %d and rank %u; float64, float32, int32 or int64 in "
                    "up to 4 dimensions belong there",
                    name, (int)array->dtype, array->rank);
  const bool real = array->dtype == SCL_DTYPE_FLOAT64 || array->dtype == SCL_DTYPE_FLOAT32;
  for (size_t i = 0; real && i < *count; i++)
    if (!isfinite(scl_number(array->data, array->dtype, i)))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "the array '%s' has a number that is not finite (number %zu)", name, i + 1);
  return SCL_STATUS_OK;
}

/* The place of the name, or a new one; SCL_STAGE_ARRAYS: there is none. */
static size_t place_of(scl_stage_arrays *arrays, bool add, const char *name) {
  size_t i = 0;
  while (i < arrays->count && strcmp(arrays->names[i], name) != 0)
    i++;
  if (i < arrays->count) return i;
  if (!add || i == SCL_STAGE_ARRAYS || strlen(name) > SCL_STAGE_NAME) return SCL_STAGE_ARRAYS;
  memcpy(arrays->names[i], name, strlen(name) + 1);
  return arrays->count++;
}

scl_status scl_stage_arrays_put(scl_stage_arrays *arrays, bool add, const char *name,
                                const scl_array *array, scl_error *error) {
  size_t count;
  SCL_TRY(check_array(name, array, &count, error));
  const size_t i = place_of(arrays, add, name);
  if (i == SCL_STAGE_ARRAYS || arrays->arrays[i].data != NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "the array '%.40s' is put twice, or not declared",
                    name);
  const size_t bytes = count * bytes_of(array->dtype);
  void *copy = scl_allocate(bytes + 1);
  if (copy == NULL) return scl_fail_memory(error, bytes, "an array of a stage");
  if (bytes > 0) memcpy(copy, array->data, bytes);
  arrays->arrays[i] = *array;
  arrays->arrays[i].data = copy;
  return SCL_STATUS_OK;
}

void scl_stage_arrays_release(scl_stage_arrays *arrays) {
  for (size_t i = 0; i < arrays->count; i++)
    scl_release((void *)(uintptr_t)arrays->arrays[i].data);
  memset(arrays, 0, sizeof *arrays);
}

/* ------------ fitted stages */

/* The arrays of a stage without an instance. */
static const char relevance_arrays[] = "mean|factor";

const char *scl_fitted_stage_name(const scl_fitted_stage *stage) {
  return stage->instance == NULL ? "relevance" : scl_instance_name(stage->instance);
}

scl_status scl_fitted_stage_create(scl_instance *instance, size_t cols, scl_fitted_stage **out,
                                   scl_error *error) {
  scl_fitted_stage *stage = scl_allocate_zero(sizeof *stage);
  if (stage == NULL) return scl_fail_memory(error, sizeof *stage, "a stage");
  const char *names =
      instance == NULL ? relevance_arrays : scl_stage_arrays_of(scl_stage_table(instance));
  stage->instance = scl_instance_share(instance);
  stage->cols_in = stage->cols_out = cols;
  while (scl_stage_array_name(names, stage->state.count, stage->state.names[stage->state.count]))
    stage->state.count++;
  *out = stage;
  return SCL_STATUS_OK;
}

/* Whether the shifts of a stage of the simple form are all 0. */
static bool shifts_nothing(const scl_fitted_stage *stage) {
  const double *shift = scl_stage_numbers(&stage->fitted, 0);
  size_t j = 0;
  while (j < stage->cols_in && shift[j] == 0)
    j++;
  return j == stage->cols_in;
}

scl_status scl_fitted_stage_settle(scl_fitted_stage *stage, scl_error *error) {
  for (size_t i = 0; i < stage->state.count; i++)
    if (stage->state.arrays[i].data == NULL)
      return scl_fail(error, SCL_STATUS_INTERNAL, "stage.%s put no array '%s'",
                      scl_fitted_stage_name(stage), stage->state.names[i]);
  stage->fitted = (scl_stage_state){.head = SCL_HEAD(scl_stage_state),
                                    .cols = stage->cols_in,
                                    .width = stage->cols_in,
                                    .arrays = stage->state.arrays,
                                    .count = stage->state.count};
  if (stage->instance == NULL) {
    SCL_TRY(scl_stage_check_rows(relevance_arrays, &stage->fitted, error));
    stage->keeps_zeros = shifts_nothing(stage);
    return SCL_STATUS_OK;
  }
  SCL_TRY(scl_stage_shape(stage->instance, &stage->fitted, error));
  if (stage->fitted.width > INT32_MAX)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "stage.%s gives %zu columns, which are too many",
                    scl_fitted_stage_name(stage), stage->fitted.width);
  stage->cols_out = stage->fitted.width;
  const scl_stage *table = scl_stage_table(stage->instance);
  stage->keeps_zeros =
      table->column != NULL ? shifts_nothing(stage) : scl_stage_takes_csr(stage->instance);
  return SCL_STATUS_OK;
}

void scl_fitted_stage_destroy(scl_fitted_stage *stage) {
  if (stage == NULL) return;
  scl_stage_arrays_release(&stage->state);
  scl_instance_release(stage->instance);
  scl_release(stage);
}

scl_status scl_fitted_stage_put_scales(scl_fitted_stage *stage, const double *shift,
                                       const double *factor, scl_error *error) {
  const scl_array first = scl_matrix_array(shift, 1, stage->cols_in),
                  second = scl_matrix_array(factor, 1, stage->cols_in);
  SCL_TRY(scl_stage_arrays_put(&stage->state, false, stage->state.names[0], &first, error));
  return scl_stage_arrays_put(&stage->state, false, stage->state.names[1], &second, error);
}

scl_status scl_fitted_stage_scale(scl_fitted_stage *stage, const scl_column_moments *moments,
                                  scl_error *error) {
  const size_t cols = stage->cols_in;
  double *scales = scl_allocate_array(2 * cols + 1, sizeof *scales);
  scl_stage_column *columns = scl_allocate_array(cols + 1, sizeof *columns);
  scl_status status = scales == NULL || columns == NULL
                          ? scl_fail_memory(error, 2 * cols * sizeof *scales, "a stage")
                          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) {
    scl_column_moments_list(moments, columns);
    status = scl_stage_columns(stage->instance, columns, cols, scales, scales + cols, error);
  }
  for (size_t j = 0; status == SCL_STATUS_OK && j < cols; j++)
    if (columns[j].high > columns[j].low &&
        (!isfinite(scales[j] + scales[cols + j]) || scales[cols + j] == 0))
      status =
          scl_fail(error, SCL_STATUS_BAD_DATA,
                   "stage.%s finds no shift and factor for column %zu, which goes from %g to "
                   "%g: scale it before",
                   stage->instance->component->plugin.name, j + 1, columns[j].low, columns[j].high);
  if (status == SCL_STATUS_OK)
    status = scl_fitted_stage_put_scales(stage, scales, scales + cols, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < cols; j++)
    stage->constant += !(columns[j].high > columns[j].low);
  SCL_RELEASE(scales, columns);
  return status;
}

scl_status scl_fitted_stage_apply(const scl_fitted_stage *stage, const double *in, size_t rows,
                                  ptrdiff_t stride, double *out, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  const bool affine = stage->instance == NULL || scl_stage_table(stage->instance)->column != NULL;
  if (!affine)
    SCL_TRY(scl_stage_apply(stage->instance, &stage->fitted, in, stride, rows, out, stride, error));
  for (size_t i = 0; i < rows; i++) {
    double *row = out + (ptrdiff_t)i * stride;
    size_t j = 0;
    if (affine ? loops->affine_f64(stage->cols_in, in + (ptrdiff_t)i * stride,
                                   scl_stage_numbers(&stage->fitted, 0),
                                   scl_stage_numbers(&stage->fitted, 1), row)
               : loops->finite_f64(stage->cols_out, row))
      continue;
    while (j + 1 < stage->cols_out && isfinite(row[j]))
      j++;
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "stage.%s gives %s in column %zu, and every number must be finite",
                    scl_fitted_stage_name(stage),
                    isnan(row[j]) ? "NaN"
                    : row[j] > 0  ? "infinity"
                                  : "-infinity",
                    j + 1);
  }
  return SCL_STATUS_OK;
}

/* Check what a stage wrote for row i: columns ascend within the width, and numbers are finite. */
static scl_status check_csr_row(const scl_fitted_stage *stage, const scl_csr_block *out, size_t i,
                                scl_error *error) {
  const char *name = scl_fitted_stage_name(stage);
  for (int64_t k = out->starts[i]; k < out->starts[i + 1]; k++) {
    const int32_t column = out->columns[k];
    if (column < 0 || (size_t)column >= out->cols ||
        (k > out->starts[i] && out->columns[k - 1] >= column))
      return scl_fail(error, SCL_STATUS_INTERNAL,
                      "stage.%s wrote columns of a sparse row that do not ascend, or are not below "
                      "%zu",
                      name, out->cols);
    if (!isfinite(out->values[k]))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "stage.%s gives %s in column %ld, and every number must be finite", name,
                      isnan(out->values[k]) ? "NaN"
                      : out->values[k] > 0  ? "infinity"
                                            : "-infinity",
                      (long)column + 1);
  }
  return SCL_STATUS_OK;
}

scl_status scl_fitted_stage_apply_csr(const scl_fitted_stage *stage, const scl_const_csr *in,
                                      const scl_csr_block *out, scl_error *error) {
  const int64_t room = in->starts[in->rows] - in->starts[0];
  if (stage->instance == NULL || scl_stage_table(stage->instance)->column != NULL)
    scl_stage_scale_csr(in, scl_stage_numbers(&stage->fitted, 1), out);
  else
    SCL_TRY(scl_stage_apply_csr(stage->instance, &stage->fitted, in, out, error));
  for (size_t i = 0; i < out->rows; i++)
    if (out->starts[0] != 0 || out->starts[i + 1] < out->starts[i] || out->starts[i + 1] > room)
      return scl_fail(error, SCL_STATUS_INTERNAL,
                      "stage.%s wrote starts of sparse rows that do not ascend from 0, or more "
                      "numbers than it got",
                      scl_fitted_stage_name(stage));
  for (size_t i = 0; i < out->rows; i++)
    SCL_TRY(check_csr_row(stage, out, i, error));
  return SCL_STATUS_OK;
}

scl_status scl_fitted_stages_apply(const scl_fitted_stage *const *stages, size_t count,
                                   double *first, double *second, size_t rows, ptrdiff_t stride,
                                   double **result, scl_error *error) {
  *result = first;
  for (size_t s = 0; s < count; s++) {
    double *to = *result == first ? second : first;
    SCL_TRY(scl_fitted_stage_apply(stages[s], *result, rows, stride, to, error));
    *result = to;
  }
  return SCL_STATUS_OK;
}
