/* Some rows of a source. */
#ifndef SCULLERY_CHOSEN_H
#define SCULLERY_CHOSEN_H

#include "rows/flow.h"

/* Rows rows[0 .. count-1] of a source with random access, in that order, as a source. Source and
 * list are borrowed. */
typedef struct scl_chosen {
  scl_source base;
  scl_source *from;
  const size_t *rows;
} scl_chosen;
scl_chosen scl_source_choose(scl_source *from, const size_t *rows, size_t count);

/* The first rows of a source, at most `count`, as another source; the source is borrowed. */
typedef struct scl_beginning {
  scl_source base;
  scl_source *from;
} scl_beginning;
scl_beginning scl_source_begin(scl_source *from, size_t count);

/* Staged rows at `places` (ascending) of any source, in one walk: x (count x columns), and y (count
 * x targets) unless it is NULL. Both are made here; the caller releases them, also after a
 * failure. */
scl_status scl_flow_pick(const scl_flow *flow, const size_t *places, size_t count, scl_matrix *x,
                         scl_matrix *y, scl_error *error);

/* The same of rows that stages keep sparse (scl_flow_is_sparse). */
scl_status scl_flow_pick_csr(const scl_flow *flow, const size_t *places, size_t count, scl_csr *x,
                             scl_matrix *y, scl_error *error);

/* Staged rows of a seeded sample of at most `count` rows: from all rows if the source has random
 * access, where only the sampled rows are read; else from the first 2,048 rows. */
scl_status scl_flow_sample(const scl_flow *flow, size_t count, uint64_t seed, scl_matrix *out,
                           scl_error *error);

#endif
