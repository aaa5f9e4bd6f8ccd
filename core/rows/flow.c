/* One walk over rows: read, check, stage, make features, visit. See flow.h for what a visitor
 * may rely on. */
#include "rows/flow.h"

#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/profile.h"
#include "base/progress.h"
#include "rows/reduce.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Rows of a task of reading and staging; least and most rows of a block of features, which should
 * be enough for symmetric products to reach full speed, and take about BLOCK_BYTES. */
enum { CHUNK_ROWS = 64, LEAST_ROWS = 256, MOST_ROWS = 2048 };
static const double BLOCK_BYTES = 64e6;

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

bool scl_whole_weights(const double *weights, size_t count) {
  for (size_t i = 0; weights != NULL && i < count; i++)
    if (weights[i] != floor(weights[i])) return false;
  return true;
}

bool scl_flow_is_exact(const scl_flow *flow) {
  return scl_flow_whole(flow) != SCL_WHOLE_NONE ||
         (scl_flow_has_bits(flow) && scl_whole_weights(flow->weights, flow->source->rows));
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
  const double width = (wide ? row_bytes(flow) : 0) +
                       (double)scl_flow_cols(flow) * (double)scl_dtype_size(flow->dtype);
  const double fit = BLOCK_BYTES / fmax(width, 1);
  size_t rows = LEAST_ROWS;
  while (rows < MOST_ROWS && 2 * (double)rows <= fit)
    rows *= 2;
  return rows * (!wide || groups_of(flow) == 1 ? 1 : groups_of(flow) == 2 ? 2 : 4);
}

size_t scl_flow_block_rows(const scl_flow *flow) { return fitting_rows(flow, true); }

/* The most rows that a block of the walk may have: the rows that the buffers need room for. */
static size_t choose_rows(const scl_flow *flow, bool features) {
  const size_t all = scl_max(scl_flow_end(flow) - flow->begin, 1);
  return flow->at_once ? all : scl_min(fitting_rows(flow, features), all);
}

/* ------------------------------------------------------------ the buffers of one walk */

typedef struct scl_flow_pass {
  const scl_flow *flow;
  size_t rows, cols_in, cols_most, cols,
      targets;         /* room for rows; columns as read, at most, staged */
  size_t first, count; /* rows of the present block */
  double *raw;         /* rows x cols_most, as read */
  void *x, *phi;       /* rows x cols, rows x D: features or whole numbers */
  int32_t *columns;    /* sparse: rows x entries, instead of phi */
  scl_bits bits;       /* instead of phi */
  double *low;         /* with bits: the two values of each feature, 2 x D */
  size_t entries;
  double *raw_y, *y, *weights;
  size_t *place, *position, *group_start; /* block row -> source row, and back */
  /* of a profile: nanoseconds of all threads in reading, then in each stage; NULL: none runs */
  atomic_ullong *spent;
} walk;

/* Numbers that a row of the raw buffer needs, since stages work in place. */
static size_t widest_row(const scl_flow *flow) {
  size_t most = flow->source->cols;
  for (size_t s = 0; s < flow->n_stages; s++)
    most = scl_max(most, flow->stages[s]->cols_out);
  return most;
}

static void close_walk(walk *w) {
  scl_bits_release(&w->bits);
  SCL_RELEASE(w->raw, w->x, w->phi, w->columns, w->raw_y, w->y, w->weights, w->place, w->position,
              w->group_start, w->spent, w->low);
}

double scl_flow_bytes(const scl_flow *flow, bool features) {
  const double rows = (double)choose_rows(flow, features), d = (double)scl_flow_features(flow),
               numbers = (double)(widest_row(flow) + 2 * flow->source->targets + 3);
  const bool made = features && flow->map != NULL;
  const double own = !made ? 0 : flow->bits ? (double)scl_bits_groups((size_t)d) : row_bytes(flow);
  return rows * (numbers * sizeof(double) +
                 (double)scl_flow_cols(flow) * (double)scl_dtype_size(flow->dtype) + own);
}

/* Allocate the buffers of a walk. After a failure nothing is left allocated. */
static scl_status open_walk(walk *w, const scl_flow *flow, bool features, scl_error *error) {
  const size_t size = scl_dtype_size(flow->dtype), width = scl_flow_features(flow);
  *w = (walk){.flow = flow,
              .rows = choose_rows(flow, features),
              .cols_in = flow->source->cols,
              .cols_most = widest_row(flow)};
  w->cols = scl_flow_cols(flow);
  w->targets = flow->source->targets;
  w->raw = scl_allocate_array(w->rows * w->cols_most + 1, sizeof *w->raw);
  w->x = scl_allocate_array(w->rows * w->cols + 1, size);
  w->entries = features ? scl_flow_entries(flow) : 0;
  const bool dense = features && flow->map != NULL && w->entries == 0 && !flow->bits;
  w->phi = dense ? scl_allocate_array(w->rows * width + 1, feature_size(flow)) : NULL;
  w->columns =
      w->entries > 0 ? scl_allocate_array(w->rows * w->entries + 1, sizeof *w->columns) : NULL;
  w->raw_y = scl_allocate_array(w->rows * w->targets + 1, sizeof *w->y);
  w->y = scl_allocate_array(w->rows * w->targets + 1, sizeof *w->y);
  w->weights = flow->weights != NULL ? scl_allocate_array(w->rows + 1, sizeof *w->weights) : NULL;
  w->place = scl_allocate_array(w->rows + 1, sizeof *w->place);
  w->position = scl_allocate_array(w->rows + 1, sizeof *w->position);
  w->group_start = scl_allocate_array(groups_of(flow) + 2, sizeof *w->group_start);
  if (scl_profile_runs()) w->spent = scl_allocate_zero((flow->n_stages + 1) * sizeof *w->spent);
  const bool bits = features && flow->bits;
  if (bits) w->low = scl_allocate_array(2 * width + 1, sizeof *w->low);
  if (w->low != NULL && scl_bits_create(width, w->rows, &w->bits, NULL) == SCL_STATUS_OK)
    scl_map_low_and_high(flow->map, w->low, w->low + width);
  const bool enough = (w->bits.words || !bits) && w->raw && w->x && (w->phi || !dense) &&
                      (w->columns || w->entries == 0) && (w->weights || flow->weights == NULL) &&
                      w->raw_y && w->y && w->place && w->position && w->group_start;
  if (enough) return SCL_STATUS_OK;
  close_walk(w);
  return scl_fail_memory(error,
                         w->rows * (w->cols_most * sizeof(double) + (w->cols + width) * size),
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

/* ------------------------------------------------------------ reading, checking, staging */

static scl_matrix view_of(double *data, size_t rows, size_t cols, size_t stride) {
  return (scl_matrix){NULL, data, rows, cols, (ptrdiff_t)stride, 1, SCL_DTYPE_FLOAT64};
}

/* Read rows of the block from the source into the raw buffers. */
static scl_status read_rows(walk *w, size_t from, size_t count, scl_error *error) {
  scl_source *source = w->flow->source;
  scl_matrix x = view_of(w->raw + from * w->cols_most, count, w->cols_in, w->cols_most);
  scl_matrix y = view_of(w->raw_y + from * w->targets, count, w->targets, w->targets);
  return scl_source_read(source, w->first + from, count, &x, w->targets > 0 ? &y : NULL, error);
}

/* The number of row i of the block in the data, from 1. */
static size_t number_of(const walk *w, size_t i) {
  const size_t row = w->first + i;
  return (w->flow->numbers == NULL ? row : w->flow->numbers[row]) + 1;
}

/* The error for the first number of a row that is not finite; `at` is its number. */
static scl_status refuse_number(const double *row, size_t cols, size_t at, const char *what,
                                scl_error *error) {
  size_t j = 0;
  while (j + 1 < cols && isfinite(row[j]))
    j++;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s has %s in row %zu, column %zu: every number must be finite", what,
                  isnan(row[j]) ? "NaN"
                  : row[j] > 0  ? "infinity"
                                : "-infinity",
                  at, j + 1);
}

/* Write staged row i to row `to` of the block, in the flow's dtype. SCL_STATUS_BAD_DATA: float32
 * cannot hold a number. */
static scl_status write_row(const walk *w, const double *row, size_t i, size_t to,
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
                      row[j], number_of(w, i), j + 1);
  }
  return SCL_STATUS_OK;
}

/* Check that the numbers of a row, as read, and of its targets are finite. */
static scl_status check_row(const walk *w, size_t i, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  const double *row = w->raw + i * w->cols_most, *y = w->raw_y + i * w->targets;
  if (!loops->finite_f64(w->cols_in, row))
    return refuse_number(row, w->cols_in, number_of(w, i), "X", error);
  if (!loops->finite_f64(w->targets, y))
    return refuse_number(y, w->targets, number_of(w, i), "y", error);
  return SCL_STATUS_OK;
}

/* numbers -= from, or nothing if `from` is NULL. */
static void subtract(size_t count, const double *from, double *numbers) {
  for (size_t j = 0; from != NULL && j < count; j++)
    numbers[j] -= from[j];
}

/* Move staged row i, which is at `row`, to its place in the block, less the pilot means where the
 * rows are the features. */
static scl_status keep_row(const walk *w, size_t i, double *row, scl_error *error) {
  const size_t to = w->position[i];
  double *y = w->y + to * w->targets;
  memcpy(y, w->raw_y + i * w->targets, w->targets * sizeof *w->y);
  subtract(w->targets, w->flow->target_pilot, y);
  if (w->flow->map == NULL) subtract(w->cols, w->flow->pilot, row);
  return write_row(w, row, i, to, error);
}

/* For a profile: add the time since *since to reading (part 0) or to a stage (part 1, 2, ...), and
 * set *since to now. */
static void add_time(const walk *w, size_t part, double *since) {
  if (w->spent == NULL) return;
  const double now = scl_progress_clock();
  (void)atomic_fetch_add(&w->spent[part], (unsigned long long)(1e9 * (now - *since)));
  *since = now;
}

/* Apply stage s to `count` rows of the block from row `from` on, which are at `in`. If the stage
 * refuses them, repeat it row by row, to name the first row that it refuses. */
static scl_status stage_rows(const walk *w, size_t s, const double *in, size_t from, size_t count,
                             double *out, scl_error *error) {
  const scl_fitted_stage *stage = w->flow->stages[s];
  const ptrdiff_t stride = (ptrdiff_t)w->cols_most;
  const scl_status status = scl_fitted_stage_apply(stage, in, count, stride, out, error);
  if (status != SCL_STATUS_BAD_DATA) return status;
  for (size_t i = 0; i < count; i++)
    if (scl_fitted_stage_apply(stage, in + i * w->cols_most, 1, stride, out, error) !=
        SCL_STATUS_OK)
      return scl_prefix(error, "row %zu of X", number_of(w, from + i));
  return status;
}

/* Apply the stages to `count` rows from row `from` on, by turns between their place in the block
 * and `other`, and move them to their places. */
static scl_status stage_chunk_by(walk *w, size_t from, size_t count, double *other, double *since,
                                 scl_error *error) {
  double *own = w->raw + from * w->cols_most, *rows = own;
  for (size_t s = 0; s < w->flow->n_stages; s++) {
    double *to = rows == own ? other : own;
    SCL_TRY(stage_rows(w, s, rows, from, count, to, error));
    rows = to;
    add_time(w, s + 1, since);
  }
  for (size_t i = 0; i < count; i++)
    SCL_TRY(keep_row(w, from + i, rows + i * w->cols_most, error));
  add_time(w, 0, since);
  return SCL_STATUS_OK;
}

/* Task: read (where the source allows it on several threads), check and stage CHUNK_ROWS rows. */
static scl_status stage_chunk(void *context, size_t index, scl_error *error) {
  walk *w = context;
  const size_t from = index * CHUNK_ROWS, count = scl_min(CHUNK_ROWS, w->count - from),
               numbers = w->flow->n_stages == 0 ? 0 : count * w->cols_most;
  double since = w->spent == NULL ? 0 : scl_progress_clock();
  if (w->flow->source->parallel) SCL_TRY(read_rows(w, from, count, error));
  for (size_t i = from; i < from + count; i++)
    SCL_TRY(check_row(w, i, error));
  add_time(w, 0, &since);
  double *other = numbers == 0 ? NULL : scl_allocate_array(numbers, sizeof *other);
  if (numbers > 0 && other == NULL)
    return scl_fail_memory(error, numbers * sizeof *other, "staged rows");
  const scl_status status = stage_chunk_by(w, from, count, other, &since, error);
  scl_release(other);
  return status;
}

/* Divide `seconds` of elapsed time among reading and the stages, in proportion to the time that all
 * threads spent in each. */
static void share_time(const walk *w, double seconds) {
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

/* Read and stage the rows of a block on all threads. A source that is not parallel is read
 * first. */
static scl_status read_block(walk *w, scl_error *error) {
  if (!w->flow->source->parallel) SCL_TRY(read_rows(w, 0, w->count, error));
  const double began = w->spent == NULL ? 0 : scl_progress_clock();
  SCL_TRY(scl_pool_try((w->count + CHUNK_ROWS - 1) / CHUNK_ROWS, stage_chunk, w, error));
  if (w->spent != NULL) share_time(w, scl_progress_clock() - began);
  return SCL_STATUS_OK;
}

/* Arrange, read and stage the rows of the present block. */
static scl_status fill_block(walk *w, scl_error *error) {
  SCL_TRY(arrange_block(w, error));
  const size_t mark = scl_profile_enter("reading");
  const scl_status status = read_block(w, error);
  scl_profile_leave(mark, (double)w->count, w->first == w->flow->begin);
  return status;
}

/* ------------------------------------------------------------ features */

/* Rows of features from which pilot means are subtracted. */
typedef struct subtracting {
  const scl_flow *flow;
  void *phi;
  ptrdiff_t stride;
  size_t rows, all, planes, count; /* all: parameters of the map; count: those that are made */
} subtracting;

/* Subtract from one row the means of one output of the parameters that are made. */
static void subtract_plane(const subtracting *s, const double *from, void *row) {
  if (s->flow->dtype == SCL_DTYPE_FLOAT64) {
    subtract(s->count, from, row);
    return;
  }
  float *narrow = row;
  for (size_t j = 0; j < s->count; j++)
    narrow[j] = (float)((double)narrow[j] - from[j]);
}

/* A task of the pool: CHUNK_ROWS rows, plane by plane, as the pilot of a plane is contiguous. */
static void subtract_chunk(void *context, size_t index) {
  const subtracting *s = context;
  const size_t end = scl_min((index + 1) * CHUNK_ROWS, s->rows);
  for (size_t i = index * CHUNK_ROWS; i < end; i++)
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
  scl_pool_run((rows + CHUNK_ROWS - 1) / CHUNK_ROWS, subtract_chunk, &s);
}

/* Make the features of `count` staged rows of the block from row `at` on, in the form that the flow
 * wants. They are written to the first rows of the buffers. */
static scl_status apply_map(walk *w, size_t at, size_t count, scl_error *error) {
  const scl_flow *flow = w->flow;
  const ptrdiff_t width = (ptrdiff_t)scl_flow_features(flow), cols = (ptrdiff_t)w->cols;
  const void *x = scl_at(w->x, flow->dtype, (ptrdiff_t)at * cols);
  if (flow->bits) return scl_map_apply_bits(flow->map, x, cols, count, &w->bits, error);
  if (flow->whole) return scl_map_apply_whole(flow->map, x, cols, count, w->phi, width, error);
  if (w->entries > 0) return scl_map_apply_cells(flow->map, x, cols, count, w->columns, error);
  return flow->count == 0 ? scl_map_apply(flow->map, x, cols, count, w->phi, width, error)
                          : scl_map_apply_part(flow->map, flow->first, flow->count, x, cols, count,
                                               w->phi, width, error);
}

/* Make the features of the block. If a component refuses the numbers, repeat it row by row, in the
 * order of the source, to name the first row that it refuses. */
static scl_status map_block(walk *w, scl_error *error) {
  const scl_status status = apply_map(w, 0, w->count, error);
  if (status != SCL_STATUS_BAD_DATA) return status;
  for (size_t i = 0; i < w->count; i++)
    if (apply_map(w, w->position[i], 1, error) != SCL_STATUS_OK)
      return scl_prefix(error, "row %zu of X", number_of(w, i));
  return status;
}

/* The features of a block, less the pilot. Whole-number features are left as they are. */
static scl_status make_features(walk *w, scl_error *error) {
  const size_t mark = scl_profile_enter("features");
  const scl_status status = map_block(w, error);
  if (status == SCL_STATUS_OK && w->phi != NULL && !w->flow->whole)
    scl_flow_subtract_pilot(w->flow, w->phi, (ptrdiff_t)scl_flow_features(w->flow), w->count);
  scl_profile_leave(mark, (double)w->count, w->first == w->flow->begin);
  return status;
}

scl_status scl_flow_make_features(const scl_flow_block *block, scl_error *error) {
  return make_features(block->pass, error);
}

/* Make the features of the block, unless they are not wanted or left to the visitor, and visit
 * it. */
static scl_status visit_block(walk *w, bool features, scl_flow_visit visit, void *context,
                              scl_error *error) {
  const scl_flow *flow = w->flow;
  const bool mapped = features && flow->map != NULL;
  const ptrdiff_t width = (ptrdiff_t)scl_flow_features(flow), cols = (ptrdiff_t)w->cols;
  if (mapped && !flow->late) SCL_TRY(make_features(w, error));
  const scl_flow_block block = {.first = w->first,
                                .count = w->count,
                                .x = w->x,
                                .phi = !mapped       ? w->x
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
  return visit(context, &block, error);
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

/* From a source that is read in order, pass over the rows before those of the walk, or read and
 * discard them. */
static scl_status skip_rows(walk *w, scl_error *error) {
  const scl_flow *flow = w->flow;
  w->first = 0;
  if (!flow->source->random_access && flow->begin > 0)
    SCL_TRY(scl_source_skip(flow->source, flow->begin, &w->first, error));
  while (!flow->source->random_access && w->first < flow->begin) {
    const size_t some = scl_min(w->rows, flow->begin - w->first);
    SCL_TRY(read_rows(w, 0, some, error));
    w->first += some;
  }
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
  scl_status status = skip_rows(&w, error);
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

/* ------------------------------------------------------------ sparse features, bits, whole
 * numbers */

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
  rows.dtype = SCL_DTYPE_FLOAT64;
  rows.group = NULL;
  rows.pilot = rows.target_pilot = rows.unit = NULL;
  return rows;
}
