/* What the files of a walk share: flow.c decides blocks, makes features and visits; flow_read.c
 * reads, checks and stages dense rows; flow_csr.c does so with sparse rows. */
#ifndef SCULLERY_FLOW_INTERNAL_H
#define SCULLERY_FLOW_INTERNAL_H

#include "rows/flow.h"
#include <stdatomic.h>

/* Rows of a task of reading and staging. */
enum { SCL_FLOW_CHUNK = 64 };

typedef struct scl_flow_pass {
  const scl_flow *flow;
  size_t kept; /* of sparse sources: so many stages, from the first on, keep rows sparse */
  size_t rows, cols_in, cols_most, cols,
      targets;         /* room for rows; columns as read, at most, staged */
  size_t first, count; /* rows of the present block */
  size_t from, to;     /* its rows, as sorted, that are not left out */
  double *raw;         /* rows x cols_most, as read; NULL of sparse sources */
  void *x, *phi;       /* x_rows x cols, rows x D: features or whole numbers */
  size_t x_rows;       /* rows that x has room for: all, or a part of a sparse block; 0: none */
  scl_csr csr;         /* of sparse sources: the block's rows after `kept` stages; where these are
                          all, sorted by group and in the flow's dtype */
  int32_t *columns;    /* sparse: rows x entries, instead of phi */
  scl_bits bits;       /* instead of phi */
  double *low;         /* with bits: the two values of each feature, 2 x D */
  size_t entries;
  double *raw_y, *y, *weights;
  size_t *place, *position, *group_start; /* block row -> source row, and back */
  size_t *part_start;                     /* as group_start, of a part of a sparse block */
  /* of a profile: nanoseconds of all threads in reading, then in each stage; NULL: none runs */
  atomic_ullong *spent;
} scl_flow_pass;

/* flow_read.c */

/* The number of row i of the block in the data, from 1. */
size_t scl_pass_number(const scl_flow_pass *w, size_t i);
/* Check that a row's numbers are finite: the first that is not is an error, which names row i of the
 * block and the column. `what`: "X" or "y". */
scl_status scl_pass_check(const scl_flow_pass *w, const double *row, size_t cols, size_t i,
                          const char *what, scl_error *error);
/* Move the targets of row i of the block to their place, less the pilot means. */
void scl_pass_keep_targets(const scl_flow_pass *w, size_t i);
/* Apply the stages from `kept` on to `count` rows of the block from row `from` on, by turns between
 * `own`, where they are at cols_most, and `other`, and move them to their places. */
scl_status scl_pass_stage_rows(scl_flow_pass *w, size_t from, size_t count, double *own,
                               double *other, double *since, scl_error *error);
/* For a profile: add the time since *since to reading (part 0) or to a stage (part 1, 2, ...), and
 * set *since to now. */
void scl_pass_add_time(const scl_flow_pass *w, size_t part, double *since);
/* Divide `seconds` of elapsed time among reading and the stages, in proportion to the time that all
 * threads spent in each. */
void scl_pass_share_time(const scl_flow_pass *w, double seconds);
/* Read rows from a dense source into the raw buffers. */
scl_status scl_pass_read(scl_flow_pass *w, size_t from, size_t count, scl_error *error);
/* Read, check and stage the rows of the present block, which is arranged. */
scl_status scl_pass_fill(scl_flow_pass *w, scl_error *error);

/* flow_csr.c */

/* How many stages, from the first on, keep the rows of a sparse source sparse. */
size_t scl_flow_kept_stages(const scl_flow *flow);
/* scl_pass_fill of a sparse source: w->csr and, unless all stages keep rows sparse, w->x. */
scl_status scl_pass_fill_csr(scl_flow_pass *w, scl_error *error);
/* Features of `count` sparse rows of the block from row `at` on, written to the first rows of the
 * buffers. */
scl_status scl_pass_map_csr(scl_flow_pass *w, size_t at, size_t count, scl_error *error);
/* Visit a block of sparse rows in dense parts of x_rows rows. */
scl_status scl_pass_visit_parts(scl_flow_pass *w, const scl_flow_block *block, scl_flow_visit visit,
                                void *context, scl_error *error);

#endif
