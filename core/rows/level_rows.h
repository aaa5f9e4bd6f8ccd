/* Rows times coefficients, for features that each read one column: phi(x)'a is a sum over columns,
 *
 *   phi(x)'a = sum_j f_j(x_j),   f_j(v) = sum over the features t of column j of a_t phi_t(v)
 *
 * For a column of few values (levels.h) f_j is a table, and a row needs one look-up for each such
 * column. For other columns f_j is computed from their features, with the same bits as a table
 * would have: which columns have tables depends on the rows, but the products do not. */
#ifndef SCULLERY_LEVEL_ROWS_H
#define SCULLERY_LEVEL_ROWS_H

#include "rows/flow.h"

typedef struct scl_level_rows scl_level_rows;

/* *out = NULL, without an error, if the features of the flow's map do not each read one column. The
 * flow is borrowed, and must be walked with `late` set. */
scl_status scl_level_rows_create(const scl_flow *flow, scl_level_rows **out, scl_error *error);
void scl_level_rows_destroy(scl_level_rows *rows);
/* Find the levels of a block, and make the features of columns without tables. */
scl_status scl_level_rows_find(scl_level_rows *rows, const scl_flow_block *block, scl_error *error);

/* Coefficients, and their tables over the levels so far. */
typedef struct scl_level_tables {
  size_t made;   /* for which levels; 0: none yet */
  double *table; /* levels x the next multiple of 8 of k */
  double *by;    /* coefficients, features by column: k x D, or packed column by column */
} scl_level_tables;

/* out (count x k) = rows start .. start+count-1 of the block last found times a (D x k), in
 * float64. `tables` begins as zeros. */
scl_status scl_level_rows_multiply(scl_level_rows *rows, scl_level_tables *tables, const double *a,
                                   size_t k, size_t start, size_t count, double *out,
                                   scl_error *error);
void scl_level_tables_close(scl_level_tables *tables);

#endif
