/* Sources of some rows of another source, and samples of staged rows. */
#include "rows/chosen.h"

#include "base/random.h"
#include <string.h>

/* ------------ as a source */

/* Row i of a matrix as a matrix of one row, without a reference. */
static scl_matrix row_of(scl_matrix *m, size_t i) {
  scl_matrix one = *m;
  one.data = scl_matrix_row(m, i);
  one.rows = 1;
  return one;
}

/* Slot `read`: one row at a time, as the chosen rows may be anywhere. */
static scl_status read_chosen(scl_source *source, size_t first, size_t count, scl_matrix *x,
                              scl_matrix *y, scl_error *error) {
  const scl_chosen *self = (const scl_chosen *)source;
  for (size_t i = 0; i < count; i++) {
    scl_matrix one_x = row_of(x, i), one_y = {0};
    if (y != NULL) one_y = row_of(y, i);
    SCL_TRY(scl_source_read(self->from, self->rows[first + i], 1, &one_x, y == NULL ? NULL : &one_y,
                            error));
  }
  return SCL_STATUS_OK;
}

/* Slot `read_sparse`. */
static scl_status read_chosen_csr(scl_source *source, size_t first, size_t count, scl_csr *x,
                                  scl_matrix *y, scl_error *error) {
  const scl_chosen *self = (const scl_chosen *)source;
  scl_csr *rows = scl_allocate_zero((count + 1) * sizeof *rows);
  if (rows == NULL) return scl_fail_memory(error, count * sizeof *rows, "rows of a source");
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    scl_matrix one_y = {0};
    if (y != NULL) one_y = row_of(y, i);
    status = scl_source_sparse(self->from, self->rows[first + i], 1, &rows[i],
                               y == NULL ? NULL : &one_y, error);
  }
  if (status == SCL_STATUS_OK && count > 0) status = scl_csr_join(rows, count, x, error);
  if (status == SCL_STATUS_OK && count == 0)
    status = scl_csr_create(0, source->cols, 0, SCL_DTYPE_FLOAT64, x, error);
  for (size_t i = 0; i < count; i++)
    scl_csr_release(&rows[i]);
  scl_release(rows);
  return status;
}

scl_chosen scl_source_choose(scl_source *from, const size_t *rows, size_t count) {
  static const scl_source_class chosen_class = {.read = read_chosen,
                                                .read_sparse = read_chosen_csr};
  return (scl_chosen){.base = {.class = &chosen_class,
                               .rows = count,
                               .cols = from->cols,
                               .targets = from->targets,
                               .random_access = true,
                               .parallel = from->parallel,
                               .sparse = from->sparse},
                      .from = from,
                      .rows = rows};
}

/* The source's own `read`: scl_beginning.base limits the number of rows. */
static scl_status read_beginning(scl_source *source, size_t first, size_t count, scl_matrix *x,
                                 scl_matrix *y, scl_error *error) {
  scl_source *from = ((const scl_beginning *)source)->from;
  return scl_source_read(from, first, count, x, y, error);
}

static scl_status read_beginning_csr(scl_source *source, size_t first, size_t count, scl_csr *x,
                                     scl_matrix *y, scl_error *error) {
  scl_source *from = ((const scl_beginning *)source)->from;
  return scl_source_sparse(from, first, count, x, y, error);
}

scl_beginning scl_source_begin(scl_source *from, size_t count) {
  static const scl_source_class beginning_class = {.read = read_beginning,
                                                   .read_sparse = read_beginning_csr};
  scl_beginning out = {*from, from};
  out.base.class = &beginning_class;
  out.base.rows = scl_min(count, from->rows);
  return out;
}

/* ------------ staged */

typedef struct picking {
  const size_t *places;
  size_t count, taken;
  scl_matrix *x, *y; /* y may be NULL */
} picking;

/* Visit: copy the wanted rows of a block. Places ascend, so each block continues where the last
 * one ended. */
static scl_status pick_rows(void *context, const scl_flow_block *block, scl_error *error) {
  picking *p = context;
  (void)error;
  for (; p->taken < p->count && p->places[p->taken] < block->first + block->count; p->taken++) {
    const size_t row = p->places[p->taken] - block->first;
    memcpy(scl_matrix_row(p->x, p->taken),
           (const double *)block->x + (ptrdiff_t)row * block->x_stride,
           p->x->cols * sizeof(double));
    if (p->y != NULL)
      memcpy(scl_matrix_row(p->y, p->taken), block->y + row * p->y->cols,
             p->y->cols * sizeof(double));
  }
  return SCL_STATUS_OK;
}

scl_status scl_flow_pick(const scl_flow *flow, const size_t *places, size_t count, scl_matrix *x,
                         scl_matrix *y, scl_error *error) {
  scl_flow rows = scl_flow_of_rows(flow);
  picking p = {places, count, 0, x, y};
  rows.weights = NULL;
  SCL_TRY(scl_matrix_create_raw(count, scl_flow_cols(flow), SCL_DTYPE_FLOAT64, x, error));
  if (y != NULL)
    SCL_TRY(scl_matrix_create_raw(count, flow->source->targets, SCL_DTYPE_FLOAT64, y, error));
  return scl_flow_walk(&rows, false, pick_rows, &p, error);
}

/* The same of sparse rows: a copy for each block, as views would keep the blocks of a whole file in
 * memory. */
typedef struct picking_csr {
  const size_t *places;
  size_t count, taken, copies;
  scl_csr *rows; /* the copies; behind them, during a visit, views of one row each */
  scl_matrix *y; /* may be NULL */
} picking_csr;

static scl_status pick_csr(void *context, const scl_flow_block *block, scl_error *error) {
  picking_csr *p = context;
  const size_t from = p->taken;
  for (; p->taken < p->count && p->places[p->taken] < block->first + block->count; p->taken++) {
    const size_t row = p->places[p->taken] - block->first;
    p->rows[p->taken] = scl_csr_slice(block->csr, row, 1);
    if (p->y != NULL)
      memcpy(scl_matrix_row(p->y, p->taken), block->y + row * p->y->cols,
             p->y->cols * sizeof(double));
  }
  if (p->taken == from) return SCL_STATUS_OK;
  scl_csr copy;
  const scl_status status = scl_csr_join(p->rows + from, p->taken - from, &copy, error);
  for (size_t k = from; k < p->taken; k++)
    scl_csr_release(&p->rows[k]);
  if (status == SCL_STATUS_OK) p->rows[p->copies++] = copy;
  return status;
}

scl_status scl_flow_pick_csr(const scl_flow *flow, const size_t *places, size_t count, scl_csr *x,
                             scl_matrix *y, scl_error *error) {
  scl_flow rows = scl_flow_of_rows(flow);
  picking_csr p = {.places = places,
                   .count = count,
                   .rows = scl_allocate_zero((count + 1) * sizeof *p.rows),
                   .y = y};
  rows.weights = NULL;
  rows.csr = true;
  *x = (scl_csr){0};
  if (p.rows == NULL) return scl_fail_memory(error, count * sizeof *p.rows, "rows of a source");
  scl_status status = SCL_STATUS_OK;
  if (y != NULL)
    status = scl_matrix_create_raw(count, flow->source->targets, SCL_DTYPE_FLOAT64, y, error);
  if (status == SCL_STATUS_OK) status = scl_flow_walk(&rows, false, pick_csr, &p, error);
  if (status == SCL_STATUS_OK)
    status = count > 0 ? scl_csr_join(p.rows, p.copies, x, error)
                       : scl_csr_create(0, scl_flow_cols(flow), 0, SCL_DTYPE_FLOAT64, x, error);
  for (size_t k = 0; k < p.copies; k++)
    scl_csr_release(&p.rows[k]);
  scl_release(p.rows);
  return status;
}

/* ------------ a sample */

enum { FIRST_ROWS = 2048 }; /* of a stream: the rows that a sample is drawn from */

/* places: ascending, one in each of `count` equal stretches. */
static void draw_places(size_t rows, size_t count, uint64_t seed, size_t *places) {
  for (size_t i = 0; i < count; i++) {
    const size_t from = i * rows / count, to = (i + 1) * rows / count;
    double u;
    scl_random_uniform(seed, SCL_STREAM_SAMPLE, i, 0, 1, &u);
    places[i] = from + scl_min((size_t)(u * (double)(to - from)), to - from - 1);
  }
}

/* Read only the sampled rows, through a source of them. order: room for `count` places. */
static scl_status sample_anywhere(scl_flow flow, const size_t *places, size_t count, size_t *order,
                                  scl_matrix *out, scl_error *error) {
  scl_chosen chosen = scl_source_choose(flow.source, places, count);
  flow.source = &chosen.base;
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  return scl_flow_pick(&flow, order, count, out, NULL, error);
}

scl_status scl_flow_sample(const scl_flow *flow, size_t count, uint64_t seed, scl_matrix *out,
                           scl_error *error) {
  const bool stream = !flow->source->random_access;
  const size_t rows = stream ? scl_min(flow->source->rows, FIRST_ROWS) : flow->source->rows;
  size_t *places;
  count = scl_min(count, rows);
  places = scl_allocate_array(2 * count + 1, sizeof *places);
  if (places == NULL) return scl_fail_memory(error, count * sizeof *places, "a sample of rows");
  draw_places(rows, count, seed, places);
  scl_flow sampled = *flow;
  sampled.doing = NULL;
  scl_beginning first = scl_source_begin(flow->source, rows);
  if (stream) sampled.source = &first.base;
  const scl_status status =
      stream ? scl_flow_pick(&sampled, places, count, out, NULL, error)
             : sample_anywhere(sampled, places, count, places + count, out, error);
  scl_release(places);
  return status;
}
