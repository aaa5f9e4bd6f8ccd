/* Products of rows and coefficients, column by column. Called for scores. */
#include "rows/level_rows.h"

#include "algebra/row_products.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/profile.h"
#include "rows/levels.h"
#include <string.h>

/* Columns of the result that loops.h sums together; rows of a task; the least number of rows for
 * which tables are worth making; the most features of a column that are summed by lanes. */
enum { LANES = 8, CHUNK_ROWS = 64, LEAST_ROWS = 512, SHORT = 16 };

struct scl_level_rows {
  const scl_flow *flow;
  scl_levels *levels;
  size_t made;     /* number of changes of the levels: tables of an earlier state are made again */
  uint32_t *place; /* of the block last found: rows x columns, rows of tables */
  void *kept;      /* of that block: rows x features of wide columns */
  double *scratch; /* a part for each thread */
  size_t kept_room, scratch_room;
};

scl_status scl_level_rows_create(const scl_flow *flow, scl_level_rows **out, scl_error *error) {
  scl_levels *levels = NULL;
  *out = NULL;
  if (flow->map == NULL || flow->pilot != NULL || flow->count > 0 || scl_flow_is_sparse(flow))
    return SCL_STATUS_OK;
  SCL_TRY(scl_levels_create(flow->map, NULL, &levels, error));
  if (levels == NULL) return SCL_STATUS_OK;
  scl_level_rows *rows = scl_allocate_zero(sizeof *rows);
  const size_t places = scl_flow_block_rows(flow) * levels->n_columns;
  if (rows != NULL)
    *rows = (scl_level_rows){.flow = flow,
                             .levels = levels,
                             .place = scl_allocate_array(places + 1, sizeof *rows->place)};
  if (rows != NULL && rows->place != NULL) {
    *out = rows;
    return SCL_STATUS_OK;
  }
  if (rows == NULL) scl_levels_destroy(levels);
  scl_level_rows_destroy(rows);
  return scl_fail_memory(error, places * sizeof(uint32_t), "levels of rows");
}

void scl_level_rows_destroy(scl_level_rows *rows) {
  if (rows == NULL) return;
  scl_levels_destroy(rows->levels);
  SCL_RELEASE(rows->place, rows->kept, rows->scratch, rows);
}

void scl_level_tables_close(scl_level_tables *tables) {
  SCL_RELEASE(tables->table, tables->by);
  *tables = (scl_level_tables){0};
}

/* ------------ the levels of a block */

/* Make all columns wide: no column has a table. */
static scl_status widen_all(scl_levels *levels, scl_error *error) {
  for (size_t c = 0; c < levels->n_columns; c++)
    levels->column[c].spills = true;
  return scl_levels_widen(levels, error);
}

/* Learn the levels of a block. All columns become wide if there are few rows, or if more than half
 * of the features are in wide columns anyway: then tables cost more than they save. */
static scl_status learn_block_levels(scl_level_rows *r, const scl_flow_block *block,
                                     scl_error *error) {
  scl_levels *levels = r->levels;
  bool spills = false;
  if (r->flow->source->rows < LEAST_ROWS) {
    SCL_TRY(widen_all(levels, error));
  } else {
    scl_levels_learn(levels, block->x, block->x_stride, block->count, &spills);
    if (spills || r->made == 0) SCL_TRY(scl_levels_widen(levels, error));
    if (2 * levels->direct > levels->features) SCL_TRY(widen_all(levels, error));
  }
  r->made++;
  return levels->direct == levels->features ? SCL_STATUS_OK
                                            : scl_levels_place(levels, block->x, error);
}

/* Make room for `numbers` numbers of `size` bytes. */
static scl_status reserve_memory(void **memory, size_t *room, size_t numbers, size_t size,
                                 scl_error *error) {
  if (numbers <= *room) return SCL_STATUS_OK;
  scl_release(*memory);
  *memory = scl_allocate_array(numbers, size);
  *room = *memory == NULL ? 0 : numbers;
  return *memory == NULL ? scl_fail_memory(error, numbers * size, "features of rows")
                         : SCL_STATUS_OK;
}

/* Make the features of the wide columns of a block: rows x direct, in r->kept. */
static scl_status keep_wide(scl_level_rows *r, const scl_flow_block *block, scl_error *error) {
  const scl_levels *levels = r->levels;
  const size_t numbers = block->count * levels->direct;
  if (numbers == 0) return SCL_STATUS_OK;
  SCL_TRY(reserve_memory(&r->kept, &r->kept_room, numbers, scl_dtype_size(r->flow->dtype), error));
  return scl_map_apply(levels->some, block->x, block->x_stride, block->count, r->kept,
                       (ptrdiff_t)levels->direct, error);
}

/* Find the places of the rows of a block, and make the features of its wide columns. A block
 * with new levels is learnt and looked up once more. */
static scl_status find_block_levels(scl_level_rows *r, const scl_flow_block *block,
                                    scl_error *error) {
  bool known = r->made > 0;
  if (known) scl_levels_find(r->levels, block->x, block->x_stride, block->count, r->place, &known);
  if (!known) {
    SCL_TRY(learn_block_levels(r, block, error));
    scl_levels_find(r->levels, block->x, block->x_stride, block->count, r->place, &known);
  }
  return keep_wide(r, block, error);
}

scl_status scl_level_rows_find(scl_level_rows *r, const scl_flow_block *block, scl_error *error) {
  const size_t mark = scl_profile_enter("features");
  scl_status status = find_block_levels(r, block, error);
  scl_profile_leave(mark, (double)block->count, block->first == 0);
  if (status == SCL_STATUS_BAD_DATA || status == SCL_STATUS_NUMERIC) {
    const scl_status said = scl_flow_make_features(block, error); /* names row and feature */
    if (said != SCL_STATUS_OK) status = said;
  }
  return status;
}

/* ------------ f of a column */

/* Numbers between two rows of a table, and of coefficients of a feature: k rounded up to whole
 * groups of LANES. */
static size_t stride_of(size_t k) { return (k + LANES - 1) / LANES * LANES; }

/* How the products of rows with the coefficients of a column are summed. By strips: many results,
 * sums of rows of coefficients. By lanes: few features, whose sums a vector along them would not
 * fill. Else along the features. */
static bool by_strips(size_t k) { return k > LANES; }
static bool by_lanes(const scl_level_column *c, size_t k) {
  return !by_strips(k) && c->features <= SHORT;
}
static size_t column_numbers(size_t k) {
  return by_strips(k) ? scl_strip_numbers(SCL_DTYPE_FLOAT64, 1, k) : LANES;
}

/* part (rows x stride_of(k)) = features (rows x those of the column, float64) times their
 * coefficients `by`. A row of it depends on that row of features alone. */
static void multiply_column(const scl_level_column *c, size_t rows, const double *phi,
                            ptrdiff_t stride, const double *by, size_t k, double *part) {
  by += c->first * column_numbers(k);
  if (by_strips(k)) {
    scl_row_product(SCL_DTYPE_FLOAT64, rows, 0, k, c->features, phi, stride, by, part,
                    (ptrdiff_t)stride_of(k));
  } else if (by_lanes(c, k)) {
    scl_loops_get()->eight_product_f64(rows, c->features, phi, stride, by, part);
  } else {
    memset(part, 0, rows * LANES * sizeof *part);
    scl_loops_get()->thin_product_f64(rows, c->features, k, phi, stride, by, (ptrdiff_t)c->features,
                                      part);
    for (size_t i = k < LANES ? rows : 0; i-- > 0;) /* from rows of k numbers to rows of LANES */
      memmove(part + i * LANES, part + i * k, k * sizeof *part);
  }
}

/* The coefficients a (D x k) with features sorted by column, in the layout that multiply_column
 * takes; the caller releases them. NULL: no memory. room: D numbers of working memory. */
static double *arrange_coefficients(const scl_levels *levels, const double *a, size_t k,
                                    double *room) {
  const size_t each = column_numbers(k);
  double *by = scl_allocate_zero((levels->features * each + 1) * sizeof *by);
  for (size_t c = 0; by != NULL && c < levels->n_columns; c++) {
    const scl_level_column *column = &levels->column[c];
    double *to = by + column->first * each;
    for (size_t j = 0; j < k; j++) {
      for (size_t i = 0; i < column->features; i++)
        room[i] = a[levels->order[column->first + i] * k + j];
      if (by_strips(k))
        scl_strip_set(SCL_DTYPE_FLOAT64, column->features, j, room, to);
      else
        for (size_t i = 0; i < column->features; i++)
          to[by_lanes(column, k) ? i * LANES + j : j * column->features + i] = room[i];
    }
  }
  return by;
}

/* The table of one column: row l is f at level l, for the k columns of coefficients. room: levels x
 * features numbers of working memory. */
static void tabulate_column(const scl_levels *levels, const scl_level_column *c, size_t k,
                            double *room, scl_level_tables *t) {
  for (size_t l = 0; l < c->levels; l++)
    for (size_t i = 0; i < c->features; i++)
      room[l * c->features + i] = levels->table[l * levels->features + levels->order[c->first + i]];
  multiply_column(c, c->levels, room, (ptrdiff_t)c->features, t->by, k,
                  t->table + c->first * stride_of(k));
}

/* Make t->by, the coefficients a (D x k) by column, and the tables of all columns that are not
 * wide. */
static scl_status tabulate(const scl_level_rows *r, scl_level_tables *t, const double *a, size_t k,
                           scl_error *error) {
  const scl_levels *levels = r->levels;
  const size_t numbers = levels->features * stride_of(k);
  size_t most = levels->features;
  for (size_t c = 0; c < levels->n_columns; c++)
    most = scl_max(most, levels->column[c].levels * levels->column[c].features);
  scl_level_tables_close(t);
  double *room = scl_allocate_array(most + 1, sizeof *room);
  t->table = scl_allocate_zero((numbers + 1) * sizeof *t->table);
  t->by = room == NULL ? NULL : arrange_coefficients(levels, a, k, room);
  if (t->table == NULL || t->by == NULL || room == NULL) {
    scl_release(room);
    return scl_fail_memory(error, numbers * sizeof *t->table, "tables of columns");
  }
  for (size_t c = 0; c < levels->n_columns; c++)
    if (!levels->column[c].wide) tabulate_column(levels, &levels->column[c], k, room, t);
  scl_release(room);
  t->made = r->made;
  return SCL_STATUS_OK;
}

/* ------------ products */

typedef struct multiplying {
  const scl_level_rows *rows;
  const scl_level_tables *tables;
  size_t k, stride, start, count, each; /* each: scratch of a thread */
  double *out;
} multiplying;

/* Add table rows of columns first .. end-1 to rows of the sums, LANES results at a time. */
static void look_up(const multiplying *job, size_t row, size_t end_row, size_t first, size_t end,
                    double *sums) {
  const scl_loops *loops = scl_loops_get();
  const size_t columns = job->rows->levels->n_columns;
  for (size_t i = row; i < end_row; i++) {
    const uint32_t *place = job->rows->place + (job->start + i) * columns;
    for (size_t j = 0; j < job->stride; j += LANES, sums += LANES)
      loops->eight_look_up_f64(end - first, place + first, job->tables->table + j, job->stride,
                               sums);
  }
}

/* Add f of a wide column to rows of the sums, from its features. room: CHUNK_ROWS x (stride + those
 * features) numbers. */
static void add_wide(const multiplying *job, size_t row, size_t rows, const scl_level_column *c,
                     double *sums, double *room) {
  const scl_level_rows *r = job->rows;
  const size_t direct = r->levels->direct;
  double *wide = room + CHUNK_ROWS * job->stride;
  const void *kept =
      scl_at(r->kept, r->flow->dtype,
             (ptrdiff_t)((job->start + row) * direct + r->levels->slot[c->first] - 1));
  ptrdiff_t stride = (ptrdiff_t)direct;
  const double *phi = kept;
  if (r->flow->dtype == SCL_DTYPE_FLOAT32) {
    for (size_t i = 0; i < rows; i++)
      for (size_t q = 0; q < c->features; q++)
        wide[i * c->features + q] = (double)((const float *)kept)[i * direct + q];
    phi = wide;
    stride = (ptrdiff_t)c->features;
  }
  multiply_column(c, rows, phi, stride, job->tables->by, job->k, room);
  for (size_t i = 0; i < rows * job->stride; i++)
    sums[i] += room[i];
}

/* Task: the sums over columns, in their order, for CHUNK_ROWS rows. */
static void multiply_chunk(void *context, size_t index) {
  const multiplying *job = context;
  const scl_levels *levels = job->rows->levels;
  const size_t row = index * CHUNK_ROWS, end_row = scl_min(row + CHUNK_ROWS, job->count),
               rows = end_row - row;
  double *sums = job->rows->scratch + scl_pool_worker() * job->each,
         *room = sums + CHUNK_ROWS * job->stride;
  memset(sums, 0, rows * job->stride * sizeof *sums);
  for (size_t c = 0; c < levels->n_columns; c++) {
    const size_t first = c;
    while (c < levels->n_columns && !levels->column[c].wide)
      c++;
    if (c > first) look_up(job, row, end_row, first, c, sums);
    if (c < levels->n_columns) add_wide(job, row, rows, &levels->column[c], sums, room);
  }
  for (size_t i = 0; i < rows; i++)
    memcpy(job->out + (row + i) * job->k, sums + i * job->stride, job->k * sizeof *sums);
}

scl_status scl_level_rows_multiply(scl_level_rows *r, scl_level_tables *tables, const double *a,
                                   size_t k, size_t start, size_t count, double *out,
                                   scl_error *error) {
  const scl_levels *levels = r->levels;
  size_t widest = 0;
  for (size_t c = 0; c < levels->n_columns; c++)
    if (levels->column[c].wide) widest = scl_max(widest, levels->column[c].features);
  if (tables->made != r->made) SCL_TRY(tabulate(r, tables, a, k, error));
  multiplying job = {
      r, tables, k, stride_of(k), start, count, CHUNK_ROWS * (2 * stride_of(k) + widest), out};
  void *scratch = r->scratch;
  const scl_status status = reserve_memory(
      &scratch, &r->scratch_room, scl_pool_threads() * job.each, sizeof *r->scratch, error);
  r->scratch = scratch;
  if (status == SCL_STATUS_OK)
    scl_pool_run((count + CHUNK_ROWS - 1) / CHUNK_ROWS, multiply_chunk, &job);
  return status;
}
