#include "rows/ordered.h"

#include "base/pool.h"
#include "rows/chosen.h"
#include <stdlib.h>
#include <string.h>

/* ------------ the order */

typedef struct printed_row {
  uint64_t print;
  size_t row; /* place in the source */
} printed_row;

typedef struct printing {
  const scl_flow *flow;
  const scl_flow_block *block;
  printed_row *rows;
} printing;

enum { PRINTED_ROWS = 64 };

static void print_chunk(void *context, size_t index) {
  const printing *p = context;
  const scl_flow_block *block = p->block;
  const size_t first = index * PRINTED_ROWS, count = scl_min(PRINTED_ROWS, block->count - first);
  uint64_t prints[PRINTED_ROWS];
  scl_flow_fingerprints(p->flow, block, first, count, prints);
  for (size_t i = 0; i < count; i++)
    p->rows[block->first + first + i] = (printed_row){prints[i], block->first + first + i};
}

static scl_status print_block(void *context, const scl_flow_block *block, scl_error *error) {
  printing p = *(const printing *)context;
  (void)error;
  p.block = block;
  scl_pool_run((block->count + PRINTED_ROWS - 1) / PRINTED_ROWS, print_chunk, &p);
  return SCL_STATUS_OK;
}

static int by_print(const void *a, const void *b) {
  const printed_row *x = a, *y = b;
  if (x->print != y->print) return x->print > y->print ? 1 : -1;
  return (x->row > y->row) - (x->row < y->row);
}

scl_status scl_flow_order(const scl_flow *flow, size_t **out, scl_error *error) {
  const size_t n = flow->source->rows;
  scl_flow walked = *flow; /* in the order of the source, and as the data are */
  walked.group = NULL;
  walked.csr = true;
  walked.pilot = walked.target_pilot = NULL;
  printing p = {.flow = &walked, .rows = scl_allocate_array(n + 1, sizeof *p.rows)};
  size_t *order = scl_allocate_array(n + 1, sizeof *order);
  scl_status status = SCL_STATUS_OK;
  if (p.rows == NULL || order == NULL)
    status = scl_fail_memory(error, n * (sizeof *p.rows + sizeof *order), "an order of rows");
  if (status == SCL_STATUS_OK) status = scl_flow_walk(&walked, false, print_block, &p, error);
  if (status == SCL_STATUS_OK) {
    qsort(p.rows, n, sizeof *p.rows, by_print);
    for (size_t i = 0; i < n; i++)
      order[i] = p.rows[i].row;
    *out = order;
  } else {
    scl_release(order);
  }
  scl_release(p.rows);
  return status;
}

/* ------------ rows that come in their own order */

typedef struct placed_row {
  size_t place, row; /* in the source, and in the window */
} placed_row;

/* Rows first .. first+count-1 of the order are at hand, staged: row first + i is row at[i] of x. */
typedef struct window {
  scl_source base;
  scl_ordering ordering;
  size_t first, count, most;
  size_t *at;
  placed_row *places; /* most */
  scl_matrix x, y;
} window;

static int by_place(const void *a, const void *b) {
  const placed_row *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

static void close_window(window *w) {
  scl_matrix_release(&w->x);
  scl_matrix_release(&w->y);
  w->count = 0;
}

/* Read the window that begins at row `first` of the order, in one pass over the rows. */
static scl_status read_window(window *w, size_t first, scl_error *error) {
  const size_t count = scl_min(w->most, w->base.rows - first);
  close_window(w);
  size_t *places = scl_allocate_array(count + 1, sizeof *places);
  if (places == NULL) return scl_fail_memory(error, count * sizeof *places, "an order of rows");
  for (size_t i = 0; i < count; i++)
    w->places[i] = (placed_row){w->ordering.order[first + i], i};
  qsort(w->places, count, sizeof *w->places, by_place);
  for (size_t k = 0; k < count; k++) {
    places[k] = w->places[k].place;
    w->at[w->places[k].row] = k;
  }
  pthread_mutex_lock(w->ordering.lock);
  scl_flow rows = *w->ordering.rows;
  rows.doing = NULL;
  const scl_status status =
      scl_flow_pick(&rows, places, count, &w->x, w->base.targets > 0 ? &w->y : NULL, error);
  pthread_mutex_unlock(w->ordering.lock);
  scl_release(places);
  if (status != SCL_STATUS_OK) {
    close_window(w);
    return status;
  }
  w->first = first;
  w->count = count;
  return SCL_STATUS_OK;
}

static scl_status read_ordered(scl_source *source, size_t first, size_t count, scl_matrix *x,
                               scl_matrix *y, scl_error *error) {
  window *w = (window *)source;
  for (size_t i = 0; i < count; i++) {
    const size_t row = first + i;
    if (row < w->first || row >= w->first + w->count)
      SCL_TRY(read_window(w, row / w->most * w->most, error));
    const size_t at = w->at[row - w->first];
    memcpy(scl_matrix_row(x, i), scl_matrix_row(&w->x, at), source->cols * sizeof(double));
    if (y != NULL)
      memcpy(scl_matrix_row(y, i), scl_matrix_row(&w->y, at), source->targets * sizeof(double));
  }
  return SCL_STATUS_OK;
}

/* *w is closed by scl_ordered_destroy, also after a failure. */
static scl_status open_window(const scl_ordering *ordering, window *w, scl_error *error) {
  static const scl_source_class window_class = {.read = read_ordered};
  const scl_source *from = ordering->rows->source;
  const size_t cols = scl_flow_cols(ordering->rows),
               row = (cols + from->targets + 4) * sizeof(double),
               most = scl_min(scl_max(ordering->bytes / row, 1), from->rows);
  *w = (window){
      .base = {.class = &window_class, .rows = from->rows, .cols = cols, .targets = from->targets},
      .ordering = *ordering,
      .most = most};
  w->at = scl_allocate_array(most + 1, sizeof *w->at);
  w->places = scl_allocate_array(most + 1, sizeof *w->places);
  return w->at != NULL && w->places != NULL
             ? SCL_STATUS_OK
             : scl_fail_memory(error, most * row, "an order of rows");
}

/* ------------ the flow */

struct scl_ordered {
  scl_chosen chosen; /* of rows that can be read anywhere, */
  window window;     /* and of others */
  int32_t *group;
  double *weights;
};

void scl_ordered_destroy(scl_ordered *o) {
  if (o == NULL) return;
  close_window(&o->window);
  SCL_RELEASE(o->window.at, o->window.places, o->group, o->weights, o);
}

/* The groups and weights of the rows. */
static scl_status order_numbers(const scl_ordering *g, scl_ordered *o, scl_error *error) {
  const scl_flow *rows = g->rows;
  const size_t n = rows->source->rows;
  if (rows->group != NULL) o->group = scl_allocate_array(n + 1, sizeof *o->group);
  if (rows->weights != NULL) o->weights = scl_allocate_array(n + 1, sizeof *o->weights);
  if ((rows->group != NULL && o->group == NULL) || (rows->weights != NULL && o->weights == NULL))
    return scl_fail_memory(error, n * (sizeof *o->group + sizeof *o->weights), "an order of rows");
  for (size_t i = 0; i < n; i++) {
    if (o->group != NULL) o->group[i] = rows->group[g->order[i]];
    if (o->weights != NULL) o->weights[i] = rows->weights[g->order[i]];
  }
  return SCL_STATUS_OK;
}

scl_status scl_ordered_create(const scl_ordering *ordering, scl_ordered **out, scl_flow *flow,
                              scl_error *error) {
  const scl_flow *rows = ordering->rows;
  const bool anywhere = rows->source->random_access && rows->source->parallel;
  scl_ordered *o = scl_allocate_zero(sizeof *o);
  if (o == NULL) return scl_fail_memory(error, sizeof *o, "an order of rows");
  scl_status status = order_numbers(ordering, o, error);
  *flow = *rows;
  flow->group = o->group;
  flow->weights = o->weights;
  flow->numbers = ordering->order;
  flow->pilot = flow->target_pilot = flow->unit = NULL;
  flow->prints = NULL;
  if (anywhere) {
    o->chosen = scl_source_choose(rows->source, ordering->order, rows->source->rows);
    flow->source = &o->chosen.base;
  } else {
    if (status == SCL_STATUS_OK) status = open_window(ordering, &o->window, error);
    flow->source = &o->window.base;
    flow->n_stages = 0;
  }
  if (status == SCL_STATUS_OK)
    *out = o;
  else
    scl_ordered_destroy(o);
  return status;
}
