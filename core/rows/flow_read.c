/* Reading, checking and staging the dense rows of a block. */
#include "rows/flow_internal.h"

#include "base/loops.h"
#include "base/pool.h"
#include "base/profile.h"
#include "base/progress.h"
#include <math.h>
#include <string.h>

static scl_matrix view_of(double *data, size_t rows, size_t cols, size_t stride) {
  return (scl_matrix){NULL, data, rows, cols, (ptrdiff_t)stride, 1, SCL_DTYPE_FLOAT64};
}

scl_status scl_pass_read(scl_flow_pass *w, size_t from, size_t count, scl_error *error) {
  scl_source *source = w->flow->source;
  scl_matrix x = view_of(w->raw + from * w->cols_most, count, w->cols_in, w->cols_most);
  scl_matrix y = view_of(w->raw_y + from * w->targets, count, w->targets, w->targets);
  return scl_source_read(source, w->first + from, count, &x, w->targets > 0 ? &y : NULL, error);
}

size_t scl_pass_number(const scl_flow_pass *w, size_t i) {
  const size_t row = w->first + i;
  return (w->flow->numbers == NULL ? row : w->flow->numbers[row]) + 1;
}

scl_status scl_pass_check(const scl_flow_pass *w, const double *row, size_t cols, size_t i,
                          const char *what, scl_error *error) {
  size_t j = 0;
  if (scl_loops_get()->finite_f64(cols, row)) return SCL_STATUS_OK;
  while (j + 1 < cols && isfinite(row[j]))
    j++;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s has %s in row %zu, column %zu: every number must be finite", what,
                  isnan(row[j]) ? "NaN"
                  : row[j] > 0  ? "infinity"
                                : "-infinity",
                  scl_pass_number(w, i), j + 1);
}

/* Write staged row i to row `to` of the block, in the flow's dtype. SCL_STATUS_BAD_DATA: float32
 * cannot hold a number. */
static scl_status write_row(const scl_flow_pass *w, const double *row, size_t i, size_t to,
                            scl_error *error) {
  if (w->flow->dtype == SCL_DTYPE_FLOAT64) {
    memcpy((double *)w->x + to * w->cols, row, w->cols * sizeof *row);
    return SCL_STATUS_OK;
  }
  float *narrow = (float *)w->x + to * w->cols;
  for (size_t j = 0; j < w->cols; j++) {
    narrow[j] = (float)row[j];
    if (isinf(narrow[j]))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "X has %g in row %zu, column %zu, too large for float32: scale the data, or "
                      "use float64",
                      row[j], scl_pass_number(w, i), j + 1);
  }
  return SCL_STATUS_OK;
}

/* numbers -= from, or nothing if `from` is NULL. */
static void subtract(size_t count, const double *from, double *numbers) {
  for (size_t j = 0; from != NULL && j < count; j++)
    numbers[j] -= from[j];
}

void scl_pass_keep_targets(const scl_flow_pass *w, size_t i) {
  double *y = w->y + w->position[i] * w->targets;
  memcpy(y, w->raw_y + i * w->targets, w->targets * sizeof *w->y);
  subtract(w->targets, w->flow->target_pilot, y);
}

/* Move staged row i, which is at `row`, to its place in the block, less the pilot means where the
 * rows are the features. */
static scl_status keep_row(const scl_flow_pass *w, size_t i, double *row, scl_error *error) {
  scl_pass_keep_targets(w, i);
  if (w->flow->map == NULL) subtract(w->cols, w->flow->pilot, row);
  return write_row(w, row, i, w->position[i], error);
}

void scl_pass_add_time(const scl_flow_pass *w, size_t part, double *since) {
  if (w->spent == NULL) return;
  const double now = scl_progress_clock();
  (void)atomic_fetch_add(&w->spent[part], (unsigned long long)(1e9 * (now - *since)));
  *since = now;
}

/* Apply stage s to `count` rows of the block from row `from` on, which are at `in`. If the stage
 * refuses them, repeat it row by row, to name the first row that it refuses. */
static scl_status stage_rows(const scl_flow_pass *w, size_t s, const double *in, size_t from,
                             size_t count, double *out, scl_error *error) {
  const scl_fitted_stage *stage = w->flow->stages[s];
  const ptrdiff_t stride = (ptrdiff_t)w->cols_most;
  const scl_status status = scl_fitted_stage_apply(stage, in, count, stride, out, error);
  if (status != SCL_STATUS_BAD_DATA) return status;
  for (size_t i = 0; i < count; i++)
    if (scl_fitted_stage_apply(stage, in + i * w->cols_most, 1, stride, out, error) !=
        SCL_STATUS_OK)
      return scl_prefix(error, "row %zu of X", scl_pass_number(w, from + i));
  return status;
}

scl_status scl_pass_stage_rows(scl_flow_pass *w, size_t from, size_t count, double *own,
                               double *other, double *since, scl_error *error) {
  double *rows = own;
  for (size_t s = w->kept; s < w->flow->n_stages; s++) {
    double *to = rows == own ? other : own;
    SCL_TRY(stage_rows(w, s, rows, from, count, to, error));
    rows = to;
    scl_pass_add_time(w, s + 1, since);
  }
  for (size_t i = 0; i < count; i++)
    SCL_TRY(keep_row(w, from + i, rows + i * w->cols_most, error));
  scl_pass_add_time(w, 0, since);
  return SCL_STATUS_OK;
}

/* Task: read (where the source allows it on several threads), check and stage SCL_FLOW_CHUNK rows. */
static scl_status stage_chunk(void *context, size_t index, scl_error *error) {
  scl_flow_pass *w = context;
  const size_t from = index * SCL_FLOW_CHUNK, count = scl_min(SCL_FLOW_CHUNK, w->count - from),
               numbers = w->flow->n_stages == 0 ? 0 : count * w->cols_most;
  double since = w->spent == NULL ? 0 : scl_progress_clock();
  if (w->flow->source->parallel) SCL_TRY(scl_pass_read(w, from, count, error));
  for (size_t i = from; i < from + count; i++) {
    SCL_TRY(scl_pass_check(w, w->raw + i * w->cols_most, w->cols_in, i, "X", error));
    SCL_TRY(scl_pass_check(w, w->raw_y + i * w->targets, w->targets, i, "y", error));
  }
  scl_pass_add_time(w, 0, &since);
  double *other = numbers == 0 ? NULL : scl_allocate_array(numbers, sizeof *other);
  if (numbers > 0 && other == NULL)
    return scl_fail_memory(error, numbers * sizeof *other, "staged rows");
  const scl_status status =
      scl_pass_stage_rows(w, from, count, w->raw + from * w->cols_most, other, &since, error);
  scl_release(other);
  return status;
}

void scl_pass_share_time(const scl_flow_pass *w, double seconds) {
  double all = 0;
  for (size_t s = 0; s <= w->flow->n_stages; s++)
    all += (double)atomic_load(&w->spent[s]);
  for (size_t s = 1; s <= w->flow->n_stages; s++)
    scl_profile_move("reading", scl_fitted_stage_name(w->flow->stages[s - 1]),
                     all > 0 ? seconds * (double)atomic_load(&w->spent[s]) / all : 0,
                     (double)w->count, w->first == w->flow->begin);
  for (size_t s = 0; s <= w->flow->n_stages; s++)
    atomic_store(&w->spent[s], 0);
}

/* A source that is not parallel is read first, the rest is done on all threads. */
scl_status scl_pass_fill(scl_flow_pass *w, scl_error *error) {
  if (w->flow->source->sparse) return scl_pass_fill_csr(w, error);
  if (!w->flow->source->parallel) SCL_TRY(scl_pass_read(w, 0, w->count, error));
  const double began = w->spent == NULL ? 0 : scl_progress_clock();
  SCL_TRY(scl_pool_try((w->count + SCL_FLOW_CHUNK - 1) / SCL_FLOW_CHUNK, stage_chunk, w, error));
  if (w->spent != NULL) scl_pass_share_time(w, scl_progress_clock() - began);
  return SCL_STATUS_OK;
}
