/* One walk over rows: read, check, stage, make features, visit. See flow.h for what a visitor
 * may rely on. */
#include "rows/flow_internal.h"

#include "base/interrupt.h"
#include "base/pool.h"
#include "base/profile.h"
#include "base/progress.h"
#include "rows/reduce.h"
#include <math.h>
#include <string.h>

typedef scl_flow_pass walk;

/* Least and most rows of a block of features, which should be enough for symmetric products to
 * reach full speed, and take about BLOCK_BYTES. */
enum { LEAST_ROWS = 256, MOST_ROWS = 2048 };
static const double BLOCK_BYTES = 64e6;
/* Of float features: products of more (algebra/symmetric_accumulate.c) are made in parts anyhow, and
 * processes are dealt blocks. */
static const double PART_BYTES = 0x1p25;

size_t scl_flow_cols(const scl_flow *flow) {
  return flow->n_stages == 0 ? flow->source->cols : flow->stages[flow->n_stages - 1]->cols_out;
}

size_t scl_flow_features(const scl_flow *flow) {
  if (flow->map == NULL) return scl_flow_cols(flow);
  const size_t all = scl_map_features(flow->map);
  if (flow->planned > 0)
    return (size_t)((double)all / (double)scl_map_count(scl_map_base(flow->map)) *
                    (double)flow->planned);
  return flow->count == 0 ? all : all / scl_map_count(flow->map) * flow->count;
}

size_t scl_flow_entries(const scl_flow *flow) {
  const size_t entries = flow->map == NULL ? 0 : scl_map_entries(flow->map);
  return entries > 0 && flow->planned > 0 ? flow->planned : entries;
}

static size_t groups_of(const scl_flow *flow) { return flow->group == NULL ? 1 : flow->groups; }

bool scl_flow_has_bits(const scl_flow *flow) {
  scl_two_values values;
  return flow->map != NULL && flow->count == 0 && scl_map_two_values(flow->map, &values);
}

scl_whole scl_flow_whole(const scl_flow *flow) {
  return flow->map == NULL || flow->count > 0 ? SCL_WHOLE_NONE : scl_map_whole(flow->map);
}

bool scl_flow_is_exact(const scl_flow *flow) {
  if (scl_flow_whole(flow) != SCL_WHOLE_NONE) return true;
  if (!scl_flow_has_bits(flow)) return false;
  double sum = 0;
  for (size_t i = 0; flow->weights != NULL && i < flow->source->rows; i++) {
    const double weight = flow->weights[i];
    sum += weight;
    if ((weight > 0 && weight < SCL_LEAST_COUNTED) || sum > SCL_MOST_WEIGHT) return false;
  }
  return true;
}

bool scl_flow_whole_weights(const scl_flow *flow) {
  for (size_t i = 0; flow->weights != NULL && i < flow->source->rows; i++)
    if (flow->weights[i] != floor(flow->weights[i])) return false;
  return true;
}

/* Bytes of a dense feature. */
static size_t feature_size(const scl_flow *flow) {
  return flow->whole ? scl_whole_size(scl_map_whole(flow->map)) : scl_dtype_size(flow->dtype);
}

/* Bytes of a row of features. */
static double row_bytes(const scl_flow *flow) {
  const size_t entries = scl_flow_entries(flow);
  return entries > 0 ? (double)entries * sizeof(int32_t)
                     : (double)scl_flow_features(flow) * (double)feature_size(flow);
}

size_t scl_flow_fill_rows(const scl_flow *flow) {
  const double fit = BLOCK_BYTES / ((double)scl_max(scl_flow_features(flow), 1) *
                                    (double)scl_dtype_size(flow->dtype));
  return fit < 1 ? 1 : fit > MOST_ROWS ? MOST_ROWS : (size_t)fit;
}

/* Rows of a block that fit BLOCK_BYTES: a power of two from LEAST_ROWS to MOST_ROWS, times two for
 * two groups and four for more. It depends on the widths of rows and on the groups alone, so that
 * parts of the rows that are cut at blocks have the blocks of all rows. */
static size_t fitting_rows(const scl_flow *flow, bool features) {
  /* With groups a block's size decides the order of its rows, so it must not depend on what this
   * walk is for. */
  const bool wide = features || flow->group != NULL;
  if (flow->block_rows > 0) return flow->block_rows;
  const size_t times = !wide || groups_of(flow) == 1 ? 1 : groups_of(flow) == 2 ? 2 : 4;
  const bool sparse = scl_flow_is_sparse(flow);
  if (sparse && flow->map == NULL) return MOST_ROWS * times;
  const double width = (wide ? row_bytes(flow) : 0) +
                       (double)scl_flow_cols(flow) * (double)scl_dtype_size(flow->dtype);
  const double most = BLOCK_BYTES / fmax(width, 1),
               fit =
                   !wide || flow->whole ? most : fmin(most, PART_BYTES / fmax(row_bytes(flow), 1));
  /* Sparse rows that a stage makes dense may be too wide for that. */
  size_t rows = flow->source->sparse && !sparse ? 1 : LEAST_ROWS;
  while (rows < MOST_ROWS && 2 * (double)rows <= fit)
    rows *= 2;
  return rows * times;
}

size_t scl_flow_block_rows(const scl_flow *flow) { return fitting_rows(flow, true); }

/* The most rows that a block of the walk may have: the rows that the buffers need room for. */
static size_t choose_rows(const scl_flow *flow, bool features) {
  const size_t all = scl_max(scl_flow_end(flow) - flow->begin, 1);
  return flow->at_once ? all : scl_min(fitting_rows(flow, features), all);
}

/* ------------ the buffers of one walk */

/* Numbers that a dense row needs at most, since stages from `kept` on work in place. */
static size_t widest_row(const scl_flow *flow, size_t kept) {
  size_t most = kept == 0 ? flow->source->cols : flow->stages[kept - 1]->cols_out;
  for (size_t s = kept; s < flow->n_stages; s++)
    most = scl_max(most, flow->stages[s]->cols_out);
  return most;
}

static void close_walk(walk *w) {
  scl_bits_release(&w->bits);
  scl_csr_release(&w->csr);
  SCL_RELEASE(w->raw, w->x, w->phi, w->columns, w->raw_y, w->y, w->weights, w->place, w->position,
              w->group_start, w->part_start, w->spent, w->low);
}

/* Rows of the buffer of staged rows: all of a block, none where sparse rows are enough, or a part of
 * them. */
static size_t rows_of_x(const scl_flow *flow, bool features, size_t rows) {
  if (!scl_flow_is_sparse(flow)) return rows;
  if (flow->csr || (features && flow->map != NULL)) return 0;
  return scl_min(rows, scl_csr_dense_rows(scl_flow_cols(flow), flow->dtype));
}

double scl_flow_bytes(const scl_flow *flow, bool features) {
  const size_t rows = choose_rows(flow, features), kept = scl_flow_kept_stages(flow);
  const double d = (double)scl_flow_features(flow),
               targets = (double)(2 * flow->source->targets + 3),
               raw = (double)(flow->source->sparse ? 0 : widest_row(flow, kept));
  const bool made = features && flow->map != NULL;
  const double own = !made ? 0 : flow->bits ? (double)scl_bits_groups((size_t)d) : row_bytes(flow);
  /* of sparse rows as read and staged */
  const double entry = 2 * scl_source_entries(flow->source) * (sizeof(int32_t) + sizeof(double)),
               csr = flow->source->sparse ? (double)rows * (2 * sizeof(int64_t) + entry) : 0;
  return (double)rows * ((raw + targets) * sizeof(double) + own) +
         (double)rows_of_x(flow, features, rows) * (double)scl_flow_cols(flow) *
             (double)scl_dtype_size(flow->dtype) +
         csr;
}

/* A buffer for the dense features of a block. NULL: not enough memory. */
static void *dense_room(const walk *w) {
  return scl_allocate_array(w->rows * scl_flow_features(w->flow) + 1, feature_size(w->flow));
}

/* Allocate the buffers of a walk. After a failure nothing is left allocated. */
static scl_status open_walk(walk *w, const scl_flow *flow, bool features, scl_error *error) {
  const size_t size = scl_dtype_size(flow->dtype), width = scl_flow_features(flow);
  *w = (walk){.flow = flow,
              .kept = scl_flow_kept_stages(flow),
              .rows = choose_rows(flow, features),
              .cols_in = flow->source->cols};
  w->cols_most = widest_row(flow, w->kept);
  w->cols = scl_flow_cols(flow);
  w->targets = flow->source->targets;
  w->x_rows = rows_of_x(flow, features, w->rows);
  const size_t raw_rows = flow->source->sparse ? 0 : w->rows;
  w->raw = scl_allocate_array(raw_rows * w->cols_most + 1, sizeof *w->raw);
  w->x = scl_allocate_array(w->x_rows * w->cols + 1, size);
  w->entries = features ? scl_flow_entries(flow) : 0;
  const bool dense = features && flow->map != NULL && w->entries == 0 && !flow->bits;
  w->phi = dense ? dense_room(w) : NULL;
  w->columns =
      w->entries > 0 ? scl_allocate_array(w->rows * w->entries + 1, sizeof *w->columns) : NULL;
  w->raw_y = scl_allocate_array(w->rows * w->targets + 1, sizeof *w->y);
  w->y = scl_allocate_array(w->rows * w->targets + 1, sizeof *w->y);
  w->weights = flow->weights != NULL ? scl_allocate_array(w->rows + 1, sizeof *w->weights) : NULL;
  w->place = scl_allocate_array(w->rows + 1, sizeof *w->place);
  w->position = scl_allocate_array(w->rows + 1, sizeof *w->position);
  w->group_start = scl_allocate_array(groups_of(flow) + 2, sizeof *w->group_start);
  w->part_start = scl_allocate_array(groups_of(flow) + 2, sizeof *w->part_start);
  if (scl_profile_runs()) w->spent = scl_allocate_zero((flow->n_stages + 1) * sizeof *w->spent);
  const bool bits = features && flow->bits;
  if (bits) w->low = scl_allocate_array(2 * width + 1, sizeof *w->low);
  if (w->low != NULL && scl_bits_create(width, w->rows, &w->bits, NULL) == SCL_STATUS_OK)
    scl_map_low_and_high(flow->map, w->low, w->low + width);
  const bool enough = (w->bits.words || !bits) && w->raw && w->x && (w->phi || !dense) &&
                      (w->columns || w->entries == 0) && (w->weights || flow->weights == NULL) &&
                      w->raw_y && w->y && w->place && w->position && w->group_start &&
                      w->part_start;
  if (enough) return SCL_STATUS_OK;
  close_walk(w);
  return scl_fail_memory(error,
                         raw_rows * w->cols_most * sizeof(double) +
                             (w->x_rows * w->cols + w->rows * width) * size,
                         "a block of rows");
}

/* Decide where each row of the block goes: sorted by group, and in the order of the source within a
 * group (counting sort). Weights are put in that order. */
static scl_status arrange_block(walk *w, scl_error *error) {
  const scl_flow *flow = w->flow;
  const size_t groups = groups_of(flow);
  memset(w->group_start, 0, (groups + 1) * sizeof *w->group_start);
  for (size_t i = 0; i < w->count; i++) {
    const int32_t group = flow->group == NULL ? 0 : flow->group[w->first + i];
    if (group < 0 || (size_t)group >= groups)
      return scl_fail(error, SCL_STATUS_INTERNAL, "row %zu is in group %ld of %zu",
                      w->first + i + 1, (long)group, groups);
    w->group_start[group + 1]++;
  }
  for (size_t g = 0; g < groups; g++)
    w->group_start[g + 1] += w->group_start[g];
  for (size_t i = 0; i < w->count; i++) {
    const size_t group = flow->group == NULL ? 0 : (size_t)flow->group[w->first + i];
    w->position[i] = w->group_start[group]++;
    w->place[w->position[i]] = i;
    if (w->weights != NULL) w->weights[w->position[i]] = flow->weights[w->first + i];
  }
  /* Each start has become the start of the next group. */
  for (size_t g = groups; g > 0; g--)
    w->group_start[g] = w->group_start[g - 1];
  w->group_start[0] = 0;
  return SCL_STATUS_OK;
}

/* Leave out the groups that the flow does. */
static void leave_out(walk *w) {
  const scl_flow *flow = w->flow;
  const size_t groups = groups_of(flow);
  const bool last = w->first + w->count == scl_flow_end(flow) && flow->to_group > 0;
  w->from = w->first == flow->begin ? w->group_start[flow->from_group] : 0;
  w->to = last ? w->group_start[flow->to_group] : w->count;
  for (size_t g = 0; g <= groups; g++)
    w->group_start[g] = scl_min(scl_max(w->group_start[g], w->from), w->to);
}

/* Arrange, read and stage the rows of the present block. */
static scl_status fill_block(walk *w, scl_error *error) {
  SCL_TRY(arrange_block(w, error));
  const size_t mark = scl_profile_enter("reading");
  const scl_status status = scl_pass_fill(w, error);
  scl_profile_leave(mark, (double)w->count, w->first == w->flow->begin);
  leave_out(w);
  return status;
}

/* ------------ features */

/* Rows of features from which pilot means are subtracted. */
typedef struct subtracting {
  const scl_flow *flow;
  void *phi;
  ptrdiff_t stride;
  size_t rows, all, planes, count; /* all: parameters of the map; count: those that are made */
} subtracting;

/* Subtract from one row the means of one output of the parameters that are made. */
static void subtract_plane(const subtracting *s, const double *from, void *row) {
  const bool wide = s->flow->dtype == SCL_DTYPE_FLOAT64;
  double *numbers = row;
  float *narrow = row;
  for (size_t j = 0; wide && j < s->count; j++)
    numbers[j] -= from[j];
  for (size_t j = 0; !wide && j < s->count; j++)
    narrow[j] = (float)((double)narrow[j] - from[j]);
}

/* A task of the pool: SCL_FLOW_CHUNK rows, plane by plane, as the pilot of a plane is contiguous. */
static void subtract_chunk(void *context, size_t index) {
  const subtracting *s = context;
  const size_t end = scl_min((index + 1) * SCL_FLOW_CHUNK, s->rows);
  for (size_t i = index * SCL_FLOW_CHUNK; i < end; i++)
    for (size_t q = 0; q < s->planes; q++)
      subtract_plane(s, s->flow->pilot + q * s->all + s->flow->first,
                     scl_at_mutable(s->phi, s->flow->dtype,
                                    (ptrdiff_t)i * s->stride + (ptrdiff_t)(q * s->count)));
}

void scl_flow_subtract_pilot(const scl_flow *flow, void *phi, ptrdiff_t stride, size_t rows) {
  if (flow->pilot == NULL) return;
  const size_t all = scl_map_count(flow->map);
  subtracting s = {.flow = flow,
                   .phi = phi,
                   .stride = stride,
                   .rows = rows,
                   .all = all,
                   .planes = scl_map_features(flow->map) / all,
                   .count = flow->count == 0 ? all : flow->count};
  scl_pool_run((rows + SCL_FLOW_CHUNK - 1) / SCL_FLOW_CHUNK, subtract_chunk, &s);
}

/* Make the features of `count` staged rows of the block from row `at` on, in the form that the flow
 * wants. They are written to the first rows of the buffers, those of a map as floats to row `to` and
 * on. */
static scl_status apply_map(walk *w, size_t at, size_t count, size_t to, scl_error *error) {
  const scl_flow *flow = w->flow;
  const ptrdiff_t width = (ptrdiff_t)scl_flow_features(flow), cols = (ptrdiff_t)w->cols;
  if (flow->source->sparse && w->kept == flow->n_stages)
    return scl_pass_map_csr(w, at, count, error);
  const void *x = scl_at(w->x, flow->dtype, (ptrdiff_t)at * cols);
  if (flow->bits) return scl_map_apply_bits(flow->map, x, cols, count, &w->bits, error);
  if (flow->whole) return scl_map_apply_whole(flow->map, x, cols, count, w->phi, width, error);
  if (w->entries > 0) return scl_map_apply_cells(flow->map, x, cols, count, w->columns, error);
  void *phi = scl_at_mutable(w->phi, flow->dtype, (ptrdiff_t)to * width);
  return flow->count == 0 ? scl_map_apply(flow->map, x, cols, count, phi, width, error)
                          : scl_map_apply_part(flow->map, flow->first, flow->count, x, cols, count,
                                               phi, width, error);
}

/* Make the features of the block. If a component refuses the numbers, repeat it row by row, in the
 * order of the source, to name the first row that it refuses. */
static scl_status map_block(walk *w, scl_error *error) {
  const scl_status status = apply_map(w, w->from, w->to - w->from, w->from, error);
  if (status != SCL_STATUS_BAD_DATA) return status;
  for (size_t i = 0; i < w->count; i++)
    if (w->position[i] >= w->from && w->position[i] < w->to &&
        apply_map(w, w->position[i], 1, 0, error) != SCL_STATUS_OK)
      return scl_prefix(error, "row %zu of X", scl_pass_number(w, i));
  return status;
}

/* The features of a block, less the pilot. Whole-number features are left as they are. */
static scl_status make_features(walk *w, scl_error *error) {
  const ptrdiff_t width = (ptrdiff_t)scl_flow_features(w->flow);
  const size_t mark = scl_profile_enter("features");
  const scl_status status = map_block(w, error);
  if (status == SCL_STATUS_OK && w->phi != NULL && !w->flow->whole)
    scl_flow_subtract_pilot(w->flow,
                            scl_at_mutable(w->phi, w->flow->dtype, (ptrdiff_t)w->from * width),
                            width, w->to - w->from);
  scl_profile_leave(mark, (double)(w->to - w->from), w->first == w->flow->begin);
  return status;
}

scl_status scl_flow_make_features(const scl_flow_block *block, scl_error *error) {
  return make_features(block->pass, error);
}

void *scl_flow_take_features(const scl_flow_block *block) {
  walk *w = block->pass;
  const void *given = block->whole != NULL ? block->whole : block->phi;
  if (w == NULL || w->phi == NULL || given != w->phi || block->count < w->rows / 4 * 3) return NULL;
  void *taken = w->phi, *next = dense_room(w);
  if (next == NULL) return NULL;
  w->phi = next;
  return taken;
}

/* Make the features of the block, unless they are not wanted or left to the visitor, and visit
 * it. */
static scl_status visit_block(walk *w, bool features, scl_flow_visit visit, void *context,
                              scl_error *error) {
  const scl_flow *flow = w->flow;
  const bool mapped = features && flow->map != NULL,
             sparse = flow->source->sparse && w->kept == flow->n_stages;
  const void *x = sparse ? NULL : w->x;
  const ptrdiff_t width = (ptrdiff_t)scl_flow_features(flow), cols = (ptrdiff_t)w->cols;
  if (mapped && !flow->late) SCL_TRY(make_features(w, error));
  const scl_flow_block block = {.first = w->first,
                                .count = w->count,
                                .x = x,
                                .csr = sparse ? &w->csr : NULL,
                                .phi = !mapped       ? x
                                       : flow->whole ? NULL
                                                     : w->phi, /* NULL of bits */
                                .whole = mapped && flow->whole ? w->phi : NULL,
                                .bits = mapped && flow->bits ? &w->bits : NULL,
                                .low = w->low,
                                .high = w->low == NULL ? NULL : w->low + width,
                                .x_stride = cols,
                                .phi_stride = mapped ? width : cols,
                                .columns = w->columns,
                                .entries = w->entries,
                                .value = w->entries > 0 ? scl_map_entry_value(flow->map) : 0,
                                .y = w->targets > 0 ? w->y : NULL,
                                .weights = w->weights,
                                .place = w->place,
                                .group_start = w->group_start,
                                .pass = w};
  return sparse && w->x_rows > 0 ? scl_pass_visit_parts(w, &block, visit, context, error)
                                 : visit(context, &block, error);
}

/* Check the walk's rows, and that source, stages and map fit together. */
static scl_status check_flow(const scl_flow *flow, scl_error *error) {
  size_t cols = flow->source->cols;
  if (flow->begin > scl_flow_end(flow) || scl_flow_end(flow) > flow->source->rows)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "rows %zu .. %zu of a source of %zu",
                    flow->begin + 1, scl_flow_end(flow), flow->source->rows);
  for (size_t s = 0; s < flow->n_stages; s++) {
    if (flow->stages[s]->cols_in != cols)
      return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                      "X has %zu columns where the fitted pipeline takes %zu", flow->source->cols,
                      flow->stages[0]->cols_in + flow->source->cols - cols);
    cols = flow->stages[s]->cols_out;
  }
  if (flow->map != NULL && scl_map_dim(flow->map) != cols)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "X has %zu columns where the features take %zu",
                    cols, scl_map_dim(flow->map));
  return SCL_STATUS_OK;
}

/* The row after the block that begins at `first`: the next multiple of `step`, no further than the
 * leaf and the walk. */
static size_t block_end(const scl_flow *flow, size_t step, size_t first) {
  const size_t leaf = scl_reduce_leaf_rows(flow->source->rows), end = scl_flow_end(flow);
  if (flow->at_once) return end;
  return scl_min(scl_min((first / step + 1) * step, (first / leaf + 1) * leaf), end);
}

scl_status scl_flow_walk(const scl_flow *flow, bool features, scl_flow_visit visit, void *context,
                         scl_error *error) {
  const size_t end = scl_flow_end(flow), step = fitting_rows(flow, features);
  walk w;
  SCL_TRY(check_flow(flow, error));
  SCL_TRY(open_walk(&w, flow, features, error));
  scl_status status = SCL_STATUS_OK;
  const size_t mark = scl_profile_within(flow->doing == NULL ? "looking at rows" : flow->doing);
  scl_progress progress = scl_progress_begin(flow->doing, "rows", (double)(end - flow->begin));
  for (w.first = flow->begin; status == SCL_STATUS_OK && w.first < end; w.first += w.count) {
    w.count = block_end(flow, step, w.first) - w.first;
    status = scl_interrupt_check(error);
    if (status == SCL_STATUS_OK) status = fill_block(&w, error);
    if (status == SCL_STATUS_OK) status = visit_block(&w, features, visit, context, error);
    progress.rows = (double)(w.first + w.count - flow->begin);
    scl_progress_report(&progress, progress.rows);
  }
  scl_progress_end(&progress);
  scl_profile_leave(mark, (double)(w.first - flow->begin), 1);
  close_walk(&w);
  return status;
}

/* ------------ sparse features, bits, whole numbers */

const void *scl_flow_whole_row(const scl_flow *flow, const scl_flow_block *block, size_t i) {
  return (const char *)block->whole +
         (ptrdiff_t)i * block->phi_stride * (ptrdiff_t)scl_whole_size(scl_map_whole(flow->map));
}

static void fill_whole(const scl_flow *flow, const scl_flow_block *block, size_t start,
                       size_t count, void *out) {
  const size_t d = scl_flow_features(flow);
  for (size_t i = 0; i < count; i++)
    scl_map_unround(flow->map, 0, d, scl_flow_whole_row(flow, block, start + i), flow->dtype,
                    scl_at_mutable(out, flow->dtype, (ptrdiff_t)(i * d)));
}

void scl_flow_fill(const scl_flow *flow, const scl_flow_block *block, size_t start, size_t count,
                   void *out) {
  const size_t d = scl_flow_features(flow);
  if (block->csr != NULL && flow->map == NULL) {
    scl_csr_fill(block->csr, start, count, flow->dtype, out, (ptrdiff_t)d);
    return;
  }
  if (block->bits != NULL) {
    scl_bits_spread(block->bits, start, count, block->low, block->high, flow->dtype, out,
                    (ptrdiff_t)d);
    return;
  }
  if (block->whole != NULL) {
    fill_whole(flow, block, start, count, out);
    return;
  }
  memset(out, 0, count * d * scl_dtype_size(flow->dtype));
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < block->entries; k++) {
      const int32_t column = block->columns[(start + i) * block->entries + k];
      if (column >= 0) scl_set_number(out, flow->dtype, i * d + (size_t)column, block->value);
    }
}

const void *scl_flow_row(const scl_flow *flow, const scl_flow_block *block, size_t i) {
  return scl_at(block->phi, flow->dtype, (ptrdiff_t)i * block->phi_stride);
}

scl_flow scl_flow_of_rows(const scl_flow *flow) {
  scl_flow rows = *flow;
  rows.map = NULL;
  rows.first = rows.count = 0;
  rows.csr = false;
  rows.dtype = SCL_DTYPE_FLOAT64;
  rows.group = NULL;
  rows.pilot = rows.target_pilot = rows.unit = NULL;
  return rows;
}
