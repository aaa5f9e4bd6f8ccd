/* Rows times coefficients, for features that each read one column, by the values of the columns
 * (levels.h): the part of phi(x)'a that column j has is a table over its levels,
 *
 *   phi(x)'a = sum_j f_j(x_j),   f_j(v) = sum over the features t of column j of a_t phi_t(v)
 *
 * so that a row takes as many look-ups as it has columns. Columns of many values keep their
 * features. */
#ifndef SCULLERY_LEVEL_ROWS_H
#define SCULLERY_LEVEL_ROWS_H

#include "algebra/thin.h"
#include "rows/flow.h"

typedef struct scl_level_rows scl_level_rows;

/* NULL where the features of the flow's map do not each read one column, or rows are too few for
 * tables. The flow outlives them, and walks with `late` set. */
scl_status scl_level_rows_create(const scl_flow *flow, scl_level_rows **out, scl_error *error);
void scl_level_rows_destroy(scl_level_rows *rows);
/* Find the levels of a block. *taken = false: tables do not pay, in this block and all that follow:
 * the caller makes their features. */
scl_status scl_level_rows_find(scl_level_rows *rows, const scl_flow_block *block, bool *taken,
                               scl_error *error);

/* Coefficients as tables over the levels so far. */
typedef struct scl_level_tables {
  size_t made;   /* for which levels; 0: none yet */
  double *table; /* levels x the next multiple of 8 of k */
  scl_thin wide; /* coefficients of the features that are kept */
} scl_level_tables;

/* out (count x k) = rows start .. start+count-1 of the block last found times a (D x k), in float64
 * but for the features that are kept. `tables` begins as zeros. */
scl_status scl_level_rows_multiply(scl_level_rows *rows, scl_level_tables *tables, const double *a,
                                   size_t k, size_t start, size_t count, double *out,
                                   scl_error *error);
void scl_level_tables_close(scl_level_tables *tables);

#endif
