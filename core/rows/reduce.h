/* Sums over rows in a fixed order. The rows of a source are divided into leaves. The rows of a leaf
 * are added one after the other, and the leaves in a binary tree that depends only on the number of
 * rows:
 *
 *   ((l0 + l1) + (l2 + l3)) + ((l4 + l5) + l6)
 *
 * So several processes that each sum some of the leaves, and join their parts, get the same bits as
 * one process. All sums over rows use this, except exact sums and sums of blocks (block_sums.h),
 * which do not depend on the order. */
#ifndef SCULLERY_REDUCE_H
#define SCULLERY_REDUCE_H

#include "base/memory.h"

/* What is summed: how a part is made, how two become one, how a part ends. */
typedef struct scl_reduction {
  void *context;
  size_t bytes; /* of a part, about: large ones are not kept apart, all rows being one leaf */
  scl_status (*open)(void *context, void **part, scl_error *error); /* the sum of no rows */
  /* into += from, whose rows come after; from is closed by the caller. */
  scl_status (*merge)(void *context, void *into, void *from, scl_error *error);
  void (*close)(void *context, void *part);
  /* Where the numbers of a part lie, in one piece and with no pointers among them, for
   * scl_reducer_gather. NULL: the part itself. */
  void *(*memory)(void *context, void *part);
} scl_reduction;

enum { SCL_REDUCE_NODES = 64 };

/* Parts of the tree that still wait for their sibling. */
typedef struct scl_reducer {
  const scl_reduction *sum;
  size_t leaf_rows;
  bool started;
  size_t leaf; /* the leaf that is being summed */
  void *part;
  size_t count;
  struct {
    unsigned level;
    size_t index; /* of the node in its level */
    void *part;
  } nodes[SCL_REDUCE_NODES];
} scl_reducer;

/* Rows of a leaf, for a source of so many: blocks of rows end where leaves do. */
size_t scl_reduce_leaf_rows(size_t rows);

/* The most parts of so many bytes that exist at one time, for a source of so many rows. */
size_t scl_reduce_parts(size_t bytes, size_t rows);

/* For a source of so many rows; `sum` outlives the reducer. */
scl_reducer scl_reducer_of(const scl_reduction *sum, size_t rows);
/* The part that a block which begins at this row of the source is to be added to. Rows come in
 * ascending order. */
scl_status scl_reducer_at(scl_reducer *r, size_t row, void **part, scl_error *error);
/* Move the part of the current leaf, which is complete, to the nodes; and append a node, the next
 * in the order of rows: it takes over the part, also after a failure. */
scl_status scl_reducer_end_leaf(scl_reducer *r, scl_error *error);
scl_status scl_reducer_push(scl_reducer *r, unsigned level, size_t index, void *part,
                            scl_error *error);
/* Call it after the walk, with the status of the walk. On success *part = the sum, which the caller
 * closes. Empties the reducer in any case. */
scl_status scl_reducer_finish(scl_reducer *r, scl_status walked, void **part, scl_error *error);

#endif
