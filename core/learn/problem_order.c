/* The order in which rows are drawn. Rows of whole-number features are drawn by their contents, so
 * that a solver that looks at a sample does not depend on the order of the rows either: they are
 * sorted by fingerprint, and equal rows may take each other's place. */
#include "learn/problem_internal.h"
#include "rows/fingerprints.h"
#include <stdlib.h>

typedef struct printed_row {
  uint64_t print;
  size_t row; /* place in the source */
} printed_row;

typedef struct printing {
  const scl_flow *flow;
  printed_row *rows;
} printing;

/* The fingerprint of each row: of its staged features, targets and weight, in this order. */
static scl_status print_block(void *context, const scl_flow_block *block, scl_error *error) {
  const printing *p = context;
  const size_t cols = scl_flow_cols(p->flow), c = p->flow->source->targets;
  (void)error;
  for (size_t i = 0; i < block->count; i++) {
    const double weight = scl_flow_weight(block, i);
    const void *x = scl_at(block->x, p->flow->dtype, (ptrdiff_t)i * block->x_stride);
    uint64_t print = scl_fingerprint_of(0, p->flow->dtype, x, cols);
    if (c > 0) print = scl_fingerprint_of(print, SCL_DTYPE_FLOAT64, block->y + i * c, c);
    print = scl_fingerprint_of(print, SCL_DTYPE_FLOAT64, &weight, 1);
    p->rows[block->first + i] = (printed_row){print, block->first + block->place[i]};
  }
  return SCL_STATUS_OK;
}

/* Order of qsort: by fingerprint, equal ones by place. */
static int by_print(const void *a, const void *b) {
  const printed_row *x = a, *y = b;
  if (x->print != y->print) return x->print > y->print ? 1 : -1;
  return (x->row > y->row) - (x->row < y->row); /* qsort is not stable: no two rows may be equal */
}

/* *out = the places of all rows in the order of their fingerprints. */
static scl_status print_rows(scl_training *training, size_t **out, scl_error *error) {
  const size_t n = training->flow.source->rows;
  printing p = {&training->flow, scl_allocate_array(n + 1, sizeof *p.rows)};
  size_t *order = scl_allocate_array(n + 1, sizeof *order);
  scl_status status = SCL_STATUS_OK;
  if (p.rows == NULL || order == NULL)
    status = scl_fail_memory(error, n * (sizeof *p.rows + sizeof *order), "an order of rows");
  if (status == SCL_STATUS_OK) status = scl_problem_walk_rows(training, print_block, &p, error);
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

/* Keep this order, or the one that another problem has made meanwhile. */
static const size_t *keep_order(scl_training *training, size_t *own) {
  pthread_mutex_lock(&training->lock);
  if (training->order == NULL)
    training->order = own;
  else
    scl_release(own);
  const size_t *order = training->order;
  pthread_mutex_unlock(&training->lock);
  return order;
}

scl_status scl_training_order(scl_training *training, const size_t **out, scl_error *error) {
  const scl_map *map = training->flow.map;
  size_t *own;
  *out = NULL;
  if (map == NULL || scl_map_wanted_whole(map) == SCL_WHOLE_NONE) return SCL_STATUS_OK;
  /* The lock cannot be held throughout: print_rows walks, and a walk takes it. */
  pthread_mutex_lock(&training->lock);
  *out = training->order;
  pthread_mutex_unlock(&training->lock);
  if (*out != NULL) return SCL_STATUS_OK;
  SCL_TRY(print_rows(training, &own, error));
  *out = keep_order(training, own);
  return SCL_STATUS_OK;
}
