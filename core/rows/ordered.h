/* The rows of a flow in an order that depends on their contents alone: sorted by the fingerprints
 * of staged row, targets and weight. Equal rows may take each other's place. */
#ifndef SCULLERY_ORDERED_H
#define SCULLERY_ORDERED_H

#include "rows/flow.h"
#include <pthread.h>

/* *out = the places of all rows of the source in that order, by one walk without features. The
 * caller releases it. */
scl_status scl_flow_order(const scl_flow *flow, size_t **out, scl_error *error);

typedef struct scl_ordered scl_ordered;

/* The flow `rows`, in the given order of its rows; all are borrowed. Rows that cannot be read
 * anywhere on several threads are read in order, staged, as many at a time as fit `bytes`: `lock`
 * is held meanwhile. */
typedef struct scl_ordering {
  const scl_flow *rows;
  const size_t *order;
  pthread_mutex_t *lock;
  size_t bytes;
} scl_ordering;
/* *flow belongs to *out, and is of the same features. */
scl_status scl_ordered_create(const scl_ordering *ordering, scl_ordered **out, scl_flow *flow,
                              scl_error *error);
void scl_ordered_destroy(scl_ordered *ordered);

#endif
