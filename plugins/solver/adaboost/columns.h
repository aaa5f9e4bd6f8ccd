/* The rows in the order of the values of one column. */
#ifndef SCULLERY_ADABOOST_COLUMNS_H
#define SCULLERY_ADABOOST_COLUMNS_H

#include <scullery/plugin.h>

/* The rows in the order of one column's values. A bin is a run of rows of equal value; a split can
 * only lie between two bins. */
typedef struct column {
  uint32_t *order; /* rows by ascending value */
  uint32_t *ends;  /* bin b is order[ends[b-1]] .. order[ends[b]-1] */
  size_t bins, largest;
} column;

/* Orders the rows by x, whose entries are `stride` apart. Returns false if memory runs out; the
 * arrays stay with `out` all the same. */
bool column_order(const scl_host *host, const double *x, size_t count, size_t stride, column *out);

#endif
