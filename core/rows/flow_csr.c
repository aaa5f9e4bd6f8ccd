/* Blocks of sparse rows: reading, checking, staging as far as stages keep zeros, and making dense
 * what has to be dense, in parts of moderate size. */
#include "rows/flow_internal.h"

#include "base/loops.h"
#include "base/pool.h"
#include "base/progress.h"
#include <math.h>
#include <string.h>

enum { TASK_ROWS = 256 }; /* of a task on sparse rows */

size_t scl_flow_kept_stages(const scl_flow *flow) {
  size_t s = 0;
  while (flow->source->sparse && s < flow->n_stages && flow->stages[s]->keeps_zeros)
    s++;
  return s;
}

bool scl_flow_is_sparse(const scl_flow *flow) {
  return flow->source != NULL && flow->source->sparse &&
         scl_flow_kept_stages(flow) == flow->n_stages;
}

static size_t tasks_of(size_t rows) { return (rows + TASK_ROWS - 1) / TASK_ROWS; }

/* ------------ checking */

/* Task: check that the numbers of some rows, as read, and of their targets are finite. */
static scl_status check_rows(void *context, size_t index, scl_error *error) {
  const scl_flow_pass *w = context;
  const scl_csr *x = &w->csr;
  const size_t end = scl_min((index + 1) * TASK_ROWS, w->count);
  for (size_t i = index * TASK_ROWS; i < end; i++) {
    for (int64_t k = x->starts[i]; k < x->starts[i + 1]; k++)
      if (!isfinite(scl_csr_value(x, k)))
        return scl_fail(error, SCL_STATUS_BAD_DATA,
                        "X has %s in row %zu, column %ld: every number must be finite",
                        isnan(scl_csr_value(x, k)) ? "NaN"
                        : scl_csr_value(x, k) > 0  ? "infinity"
                                                   : "-infinity",
                        scl_pass_number(w, i), (long)x->columns[k] + 1);
    SCL_TRY(scl_pass_check(w, w->raw_y + i * w->targets, w->targets, i, "y", error));
  }
  return SCL_STATUS_OK;
}

/* ------------ one stage */

/* A stage applied to the rows of `in`. Each task writes where the numbers of its rows were, and
 * its row starts, from 0, to `starts`, one number more than rows for each task. */
typedef struct staging {
  const scl_flow_pass *w;
  const scl_fitted_stage *stage;
  const scl_csr *in;
  scl_csr out;
  int64_t *starts;
} staging;

/* Rows from .. from+count-1, which are part of task `index`. */
static scl_status stage_some(const staging *t, size_t index, size_t from, size_t count,
                             scl_error *error) {
  const int64_t at = t->in->starts[from] - t->in->starts[0];
  const scl_const_csr in = scl_csr_const(t->in, from, count);
  const scl_csr_block out = {.starts = t->starts + from + index,
                             .columns = t->out.columns + at,
                             .values = (double *)t->out.values + at,
                             .rows = count,
                             .cols = t->out.cols};
  return scl_fitted_stage_apply_csr(t->stage, &in, &out, error);
}

/* Task: stage some rows. If the stage refuses them, repeat it row by row, to name the first row that
 * it refuses. */
static scl_status stage_task(void *context, size_t index, scl_error *error) {
  const staging *t = context;
  const size_t from = index * TASK_ROWS, count = scl_min(TASK_ROWS, t->in->rows - from);
  const scl_status status = stage_some(t, index, from, count, error);
  if (status != SCL_STATUS_BAD_DATA) return status;
  for (size_t i = from; i < from + count; i++)
    if (stage_some(t, index, i, 1, error) != SCL_STATUS_OK)
      return scl_prefix(error, "row %zu of X", scl_pass_number(t->w, i));
  return status;
}

/* Close the gaps that numbers which became 0 have left, and set the starts of `out`. */
static void close_gaps(staging *t) {
  int64_t to = 0;
  for (size_t from = 0, index = 0; from < t->in->rows; from += TASK_ROWS, index++) {
    const size_t count = scl_min(TASK_ROWS, t->in->rows - from);
    const int64_t *starts = t->starts + from + index;
    const int64_t at = t->in->starts[from] - t->in->starts[0];
    const size_t some = (size_t)starts[count];
    if (at != to && some > 0) {
      memmove(t->out.columns + to, t->out.columns + at, some * sizeof *t->out.columns);
      memmove((double *)t->out.values + to, (double *)t->out.values + at, some * sizeof(double));
    }
    for (size_t i = 0; i < count; i++)
      t->out.starts[from + i + 1] = to + starts[i + 1];
    to += (int64_t)some;
  }
}

/* Replace the rows of the block by what stage s makes of them. */
static scl_status stage_block(scl_flow_pass *w, size_t s, scl_error *error) {
  const size_t rows = w->csr.rows;
  staging t = {.w = w, .stage = w->flow->stages[s], .in = &w->csr};
  SCL_TRY(scl_csr_create(rows, t.stage->cols_out, scl_csr_entries(&w->csr), SCL_DTYPE_FLOAT64,
                         &t.out, error));
  t.starts = scl_allocate_array(rows + tasks_of(rows) + 1, sizeof *t.starts);
  const scl_status status = t.starts == NULL
                                ? scl_fail_memory(error, rows * sizeof *t.starts, "staged rows")
                                : scl_pool_try(tasks_of(rows), stage_task, &t, error);
  if (status == SCL_STATUS_OK) {
    close_gaps(&t);
    scl_csr_release(&w->csr);
    w->csr = t.out;
  } else {
    scl_csr_release(&t.out);
  }
  scl_release(t.starts);
  return status;
}

/* ------------ in the form of the walk */

/* Convert the rows, which are in order of the source, to the flow's dtype. SCL_STATUS_BAD_DATA:
 * float32 cannot hold a number. */
static scl_status convert_block(scl_flow_pass *w, scl_error *error) {
  scl_csr out;
  if (w->csr.dtype == w->flow->dtype) return SCL_STATUS_OK;
  SCL_TRY(scl_csr_convert(&w->csr, w->flow->dtype, &out, error));
  for (size_t i = 0; w->flow->dtype == SCL_DTYPE_FLOAT32 && i < out.rows; i++)
    for (int64_t k = out.starts[i]; k < out.starts[i + 1]; k++)
      if (isinf(((const float *)out.values)[k])) {
        const int64_t from = w->csr.starts[i] + (k - out.starts[i]);
        scl_csr_release(&out);
        return scl_fail(error, SCL_STATUS_BAD_DATA,
                        "X has %g in row %zu, column %ld, too large for float32: scale the data, "
                        "or use float64",
                        scl_csr_value(&w->csr, from), scl_pass_number(w, i),
                        (long)w->csr.columns[from] + 1);
      }
  scl_csr_release(&w->csr);
  w->csr = out;
  return SCL_STATUS_OK;
}

/* Sort the rows by group. */
static scl_status sort_block(scl_flow_pass *w, scl_error *error) {
  scl_csr out;
  if (w->flow->group == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_csr_take(&w->csr, w->place, w->count, &out, error));
  scl_csr_release(&w->csr);
  w->csr = out;
  return SCL_STATUS_OK;
}

/* Rows of a task that fills sparse rows and applies the other stages to them. */
static size_t chunk_rows(const scl_flow_pass *w) {
  return scl_min(SCL_FLOW_CHUNK, scl_csr_dense_rows(w->cols_most, SCL_DTYPE_FLOAT64));
}

/* Task: make some rows dense, apply the stages that do not keep them sparse, and move them to their
 * places. */
static scl_status stage_dense(void *context, size_t index, scl_error *error) {
  scl_flow_pass *w = context;
  const size_t most = chunk_rows(w), from = index * most, count = scl_min(most, w->count - from),
               numbers = count * w->cols_most;
  double since = w->spent == NULL ? 0 : scl_progress_clock();
  double *own = scl_allocate_array(2 * numbers + 1, sizeof *own);
  if (own == NULL) return scl_fail_memory(error, 2 * numbers * sizeof *own, "staged rows");
  scl_csr_fill(&w->csr, from, count, SCL_DTYPE_FLOAT64, own, (ptrdiff_t)w->cols_most);
  const scl_status status = scl_pass_stage_rows(w, from, count, own, own + numbers, &since, error);
  scl_release(own);
  return status;
}

/* Read the block and apply the stages that keep it sparse. */
static scl_status read_sparse(scl_flow_pass *w, scl_error *error) {
  scl_matrix y = {.data = w->raw_y,
                  .rows = w->count,
                  .cols = w->targets,
                  .row_stride = (ptrdiff_t)w->targets,
                  .col_stride = 1,
                  .dtype = SCL_DTYPE_FLOAT64};
  double since = w->spent == NULL ? 0 : scl_progress_clock();
  scl_csr_release(&w->csr);
  SCL_TRY(scl_source_sparse(w->flow->source, w->first, w->count, &w->csr,
                            w->targets > 0 ? &y : NULL, error));
  SCL_TRY(scl_pool_try(tasks_of(w->count), check_rows, w, error));
  scl_pass_add_time(w, 0, &since);
  for (size_t s = 0; s < w->kept; s++) {
    SCL_TRY(stage_block(w, s, error));
    scl_pass_add_time(w, s + 1, &since);
  }
  return SCL_STATUS_OK;
}

scl_status scl_pass_fill_csr(scl_flow_pass *w, scl_error *error) {
  const double began = w->spent == NULL ? 0 : scl_progress_clock();
  SCL_TRY(read_sparse(w, error));
  if (w->kept < w->flow->n_stages) {
    const size_t most = chunk_rows(w);
    SCL_TRY(scl_pool_try((w->count + most - 1) / most, stage_dense, w, error));
  } else {
    SCL_TRY(convert_block(w, error));
    SCL_TRY(sort_block(w, error));
    for (size_t i = 0; i < w->count; i++)
      scl_pass_keep_targets(w, i);
  }
  if (w->spent != NULL) scl_pass_share_time(w, scl_progress_clock() - began);
  return SCL_STATUS_OK;
}

/* ------------ features */

scl_status scl_pass_map_csr(scl_flow_pass *w, size_t at, size_t count, scl_error *error) {
  const scl_flow *flow = w->flow;
  const ptrdiff_t width = (ptrdiff_t)scl_flow_features(flow);
  scl_csr rows = w->csr; /* a view without a reference */
  rows.starts += at;
  rows.rows = count;
  if (flow->bits) return scl_map_apply_csr_bits(flow->map, &rows, &w->bits, error);
  if (flow->whole) return scl_map_apply_csr_whole(flow->map, &rows, w->phi, width, error);
  if (w->entries > 0) return scl_map_apply_csr_cells(flow->map, &rows, w->columns, error);
  if (flow->count == 0) return scl_map_apply_csr(flow->map, &rows, w->phi, width, error);
  return scl_map_apply_csr_part(flow->map, flow->first, flow->count, &rows, w->phi, width, error);
}

scl_status scl_flow_apply_map(const scl_flow *flow, const scl_map *map, const scl_flow_block *block,
                              size_t at, size_t count, void *phi, ptrdiff_t phi_stride,
                              scl_error *error) {
  if (block->csr == NULL)
    return scl_map_apply(map, scl_at(block->x, flow->dtype, (ptrdiff_t)at * block->x_stride),
                         block->x_stride, count, phi, phi_stride, error);
  scl_csr rows = *block->csr;
  rows.starts += at;
  rows.rows = count;
  return scl_map_apply_csr(map, &rows, phi, phi_stride, error);
}

/* ------------ visits of dense parts */

/* Rows from .. from+count-1 of the block, filled. Rows without groups are in the order of the
 * source, so that a part is a block of its own. */
static scl_flow_block part_of(scl_flow_pass *w, const scl_flow_block *block, size_t from,
                              size_t count) {
  const size_t groups = w->flow->group == NULL ? 1 : w->flow->groups;
  scl_flow_block part = *block;
  scl_csr_fill(&w->csr, from, count, w->flow->dtype, w->x, (ptrdiff_t)w->cols);
  for (size_t g = 0; g <= groups; g++) {
    const size_t start = block->group_start[g];
    w->part_start[g] = start < from ? 0 : scl_min(start - from, count);
  }
  part.count = count;
  part.x = part.phi = w->x;
  part.x_stride = part.phi_stride = (ptrdiff_t)w->cols;
  part.csr = NULL;
  part.group_start = w->part_start;
  if (part.y != NULL) part.y += from * w->targets;
  if (part.weights != NULL) part.weights += from;
  if (w->flow->group == NULL)
    part.first += from;
  else
    part.place += from;
  return part;
}

scl_status scl_pass_visit_parts(scl_flow_pass *w, const scl_flow_block *block, scl_flow_visit visit,
                                void *context, scl_error *error) {
  for (size_t from = 0; from < block->count; from += w->x_rows) {
    const scl_flow_block part = part_of(w, block, from, scl_min(w->x_rows, block->count - from));
    SCL_TRY(visit(context, &part, error));
  }
  return SCL_STATUS_OK;
}
