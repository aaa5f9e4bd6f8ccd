/* Products of rows and coefficients by tables over the levels of columns. Called by solvers that
 * pass over rows many times. */
#include "rows/level_rows.h"

#include "base/pool.h"
#include "base/profile.h"
#include "rows/levels.h"
#include <string.h>

/* Columns of the result that are summed together; the fewest rows that pay for tables. */
enum { LANES = 8, CHUNK_ROWS = 64, LEAST_ROWS = 512 };

struct scl_level_rows {
  const scl_flow *flow;
  scl_levels *levels;
  bool plain;      /* tables do not pay */
  size_t made;     /* counts the changes of levels */
  uint32_t *place; /* of the block: rows x columns */
  void *kept;      /* rows x features of wide columns */
  double *part;    /* what these add to a product */
  size_t kept_room, part_room;
};

scl_status scl_level_rows_create(const scl_flow *flow, scl_level_rows **out, scl_error *error) {
  scl_levels *levels = NULL;
  *out = NULL;
  if (flow->map == NULL || flow->pilot != NULL || flow->count > 0 ||
      flow->source->rows < LEAST_ROWS)
    return SCL_STATUS_OK;
  SCL_TRY(scl_levels_create(flow->map, &levels, error));
  if (levels == NULL) return SCL_STATUS_OK;
  scl_level_rows *rows = scl_allocate_zero(sizeof *rows);
  const size_t most = scl_flow_block_rows(flow);
  if (rows != NULL)
    *rows = (scl_level_rows){
        .flow = flow,
        .levels = levels,
        .place = scl_allocate_array(most * levels->n_columns + 1, sizeof *rows->place)};
  if (rows != NULL && rows->place != NULL) {
    *out = rows;
    return SCL_STATUS_OK;
  }
  if (rows == NULL) scl_levels_destroy(levels);
  scl_level_rows_destroy(rows);
  return scl_fail_memory(error, most * levels->n_columns * sizeof(uint32_t), "levels of rows");
}

void scl_level_rows_destroy(scl_level_rows *rows) {
  if (rows == NULL) return;
  scl_levels_destroy(rows->levels);
  SCL_RELEASE(rows->place, rows->kept, rows->part, rows);
}

void scl_level_tables_close(scl_level_tables *tables) {
  scl_release(tables->table);
  scl_thin_close(&tables->wide);
  *tables = (scl_level_tables){0};
}

/* ------------------------------------------------------------ the levels of a block */

/* Learn the levels of a block. Tables stop paying (r->plain) where more than half of the
 * features are in wide columns. */
static scl_status learn(scl_level_rows *r, const scl_flow_block *block, scl_error *error) {
  bool spills = false;
  scl_levels_learn(r->levels, block->x, block->x_stride, block->count, &spills);
  if (spills || r->made == 0) SCL_TRY(scl_levels_widen(r->levels, error));
  r->plain = 2 * r->levels->direct > r->levels->features;
  r->made++;
  return r->plain ? SCL_STATUS_OK : scl_levels_place(r->levels, block->x, error);
}

/* Make the features of the wide columns of a block: rows x direct, in r->kept. */
static scl_status keep_wide(scl_level_rows *r, const scl_flow_block *block, scl_error *error) {
  const scl_levels *levels = r->levels;
  const size_t numbers = block->count * levels->direct, size = scl_dtype_size(r->flow->dtype);
  if (numbers == 0) return SCL_STATUS_OK;
  if (numbers > r->kept_room) {
    scl_release(r->kept);
    r->kept = scl_allocate_array(numbers, size);
    r->kept_room = r->kept == NULL ? 0 : numbers;
    if (r->kept == NULL) return scl_fail_memory(error, numbers * size, "features of rows");
  }
  return scl_map_apply(levels->some, block->x, block->x_stride, block->count, r->kept,
                       (ptrdiff_t)levels->direct, error);
}

/* Find the places of the rows of a block, and make the features of its wide columns. A block
 * with new levels is learnt and looked up once more. */
static scl_status find(scl_level_rows *r, const scl_flow_block *block, scl_error *error) {
  bool known = r->made > 0;
  for (int tries = 0; tries < 2 && !r->plain; tries++) {
    if (known)
      scl_levels_find(r->levels, block->x, block->x_stride, block->count, r->place, &known);
    if (known) return keep_wide(r, block, error);
    SCL_TRY(learn(r, block, error));
    known = true;
  }
  return SCL_STATUS_OK;
}

scl_status scl_level_rows_find(scl_level_rows *r, const scl_flow_block *block, bool *taken,
                               scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  if (!r->plain) {
    const size_t mark = scl_profile_enter("features");
    status = find(r, block, error);
    scl_profile_leave(mark, r->plain ? 0 : (double)block->count, block->first == 0 && !r->plain);
  }
  *taken = !r->plain;
  return status;
}

/* ------------------------------------------------------------ products */

/* Numbers between two rows of a table: k rounded up to whole groups of LANES. */
static size_t stride_of(size_t k) { return (k + LANES - 1) / LANES * LANES; }

/* Tables over the levels for the coefficients a (D x k): row l of a column is the sum over its
 * features t of phi_t(level l) a_t. The coefficients of wide columns are gathered in t->wide. */
static scl_status tabulate(const scl_level_rows *r, scl_level_tables *t, const double *a, size_t k,
                           scl_error *error) {
  const scl_levels *levels = r->levels;
  const size_t stride = stride_of(k), numbers = levels->features * stride;
  scl_level_tables_close(t);
  t->table = scl_allocate_zero((numbers + 1) * sizeof *t->table);
  double *wide = scl_allocate_array(levels->direct * k + 1, sizeof *wide);
  if (t->table == NULL || wide == NULL) {
    scl_release(wide);
    return scl_fail_memory(error, numbers * sizeof *t->table, "tables of columns");
  }
  for (size_t c = 0; c < levels->n_columns; c++) {
    const scl_level_column *column = &levels->column[c];
    for (size_t l = 0; !column->wide && l < column->levels; l++)
      for (size_t i = 0; i < column->features; i++) {
        const size_t feature = levels->order[column->first + i];
        const double phi = levels->table[l * levels->features + feature];
        for (size_t j = 0; j < k; j++)
          t->table[(column->first + l) * stride + j] += phi * a[feature * k + j];
      }
  }
  for (size_t i = 0; i < levels->direct; i++)
    memcpy(wide + i * k, a + levels->wide[i] * k, k * sizeof *wide);
  const scl_status status =
      levels->direct == 0 ? SCL_STATUS_OK
                          : scl_thin_open(r->flow->dtype, levels->direct, wide, k, &t->wide, error);
  scl_release(wide);
  t->made = r->made;
  return status;
}

typedef struct looking_up {
  const scl_level_rows *rows;
  const double *table;
  size_t k, stride, start, count;
  double *out;
} looking_up;

/* out = the sum over columns of the table rows at the places of a row, LANES results at a time. */
static void look_up_chunk(void *context, size_t index) {
  const looking_up *job = context;
  const size_t columns = job->rows->levels->n_columns, first = index * CHUNK_ROWS,
               end = scl_min(first + CHUNK_ROWS, job->count);
  for (size_t i = first; i < end; i++) {
    const uint32_t *place = job->rows->place + (job->start + i) * columns;
    for (size_t j = 0; j < job->k; j += LANES) {
      double sum[LANES] = {0};
      for (size_t c = 0; c < columns; c++) {
        const double *from = job->table + place[c] * job->stride + j;
        for (size_t q = 0; q < LANES; q++)
          sum[q] += from[q];
      }
      memcpy(job->out + i * job->k + j, sum, scl_min(LANES, job->k - j) * sizeof *sum);
    }
  }
}

/* out += features of the wide columns times their coefficients. */
static scl_status add_kept(scl_level_rows *r, const scl_level_tables *t, size_t k, size_t start,
                           size_t count, double *out, scl_error *error) {
  const size_t direct = r->levels->direct, numbers = count * k;
  if (direct == 0 || numbers == 0) return SCL_STATUS_OK;
  if (numbers > r->part_room) {
    scl_release(r->part);
    r->part = scl_allocate_array(numbers, sizeof *r->part);
    r->part_room = r->part == NULL ? 0 : numbers;
    if (r->part == NULL) return scl_fail_memory(error, numbers * sizeof *r->part, "decisions");
  }
  SCL_TRY(scl_thin_product(&t->wide, count,
                           scl_at(r->kept, r->flow->dtype, (ptrdiff_t)(start * direct)),
                           (ptrdiff_t)direct, r->part, error));
  for (size_t i = 0; i < numbers; i++)
    out[i] += r->part[i];
  return SCL_STATUS_OK;
}

scl_status scl_level_rows_multiply(scl_level_rows *r, scl_level_tables *tables, const double *a,
                                   size_t k, size_t start, size_t count, double *out,
                                   scl_error *error) {
  if (tables->made != r->made) SCL_TRY(tabulate(r, tables, a, k, error));
  looking_up job = {r, tables->table, k, stride_of(k), start, count, out};
  scl_pool_run((count + CHUNK_ROWS - 1) / CHUNK_ROWS, look_up_chunk, &job);
  return add_kept(r, tables, k, start, count, out, error);
}
