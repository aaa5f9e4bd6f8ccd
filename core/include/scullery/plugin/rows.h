/* scullery/plugin/rows.h: blocks of rows of data or features. */
#ifndef SCULLERY_PLUGIN_ROWS_H
#define SCULLERY_PLUGIN_ROWS_H

#include "block.h"

/* `count` rows, in one of three forms. Dense: `features`, count x D. One-hot (entries > 0):
 * features.data is NULL, and row i has at most `entries` of them, in columns[i*entries ..] (-1:
 * none), each equal to `value`. Sparse (csr is not NULL): features.data is NULL and entries is
 * 0. */
typedef struct scl_rows {
  scl_head head;
  size_t first, count; /* rows first .. first+count-1, in the order of the walk */
  scl_const_block features;
  const int32_t *columns;
  size_t entries;
  double value;
  const double *targets;    /* count x c, or NULL where there are none */
  const double *weights;    /* count, or NULL: all 1 */
  const size_t *index;      /* row numbers in the data; NULL: first, first+1, ... */
  const scl_const_csr *csr; /* sparse rows, for solvers with SCL_ABILITY_CSR_ROWS and stages with
                               `apply_csr`; NULL: another form */
} scl_rows;
#define SCL_LEAST_ROWS SCL_THROUGH(scl_rows, index)

/* Called for each block of a walk. A status other than SCL_STATUS_OK ends the walk with it. */
typedef scl_status (*scl_visit)(void *context, const scl_rows *rows, scl_error *error);

/* Work on the rows of one block that several threads share (scl_host.divide_rows). The block is cut
 * into parts of `rows` rows, the last one with what is left: the division, and the order in which
 * parts are merged, do not depend on the threads, and neither does the result. */
typedef struct scl_division {
  scl_head head;
  size_t rows;    /* of a part; 0: 256 */
  size_t targets; /* c, the targets of a row */
  size_t bytes;   /* of the state of a part, 64-byte aligned, all zeros before `part` */
  /* Work on one part: part->targets, weights and so on are those of its rows. Several parts at
   * once: `context` is shared, `state` is this part's own. [any] */
  scl_status (*part)(void *context, const scl_rows *part, void *state, scl_error *error);
  /* Add the state of a part to the context: part after part, in the order of the rows. NULL:
   * nothing is to be added. [one] */
  scl_status (*merge)(void *context, const void *state, scl_error *error);
} scl_division;
#define SCL_LEAST_DIVISION SCL_THROUGH(scl_division, merge)

#endif
