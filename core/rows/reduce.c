/* The binary tree in which parts of sums over rows are added. Its shape depends on the number of
 * rows alone. */
#include "rows/reduce.h"

#include <string.h>

/* Rows of a leaf: at least LEAST_LEAF, a multiple of LEAF_STEP (whole blocks of any size), and such
 * that there are at most MOST_LEAVES leaves, since each part that waits takes memory. Parts of
 * more than MOST_BYTES are too large to have several: all rows are one leaf. */
enum { LEAST_LEAF = 16384, LEAF_STEP = 8192, MOST_LEAVES = 8 };
static const size_t MOST_BYTES = 32000000;

size_t scl_reduce_leaf_rows(size_t rows) {
  const size_t even = (rows + MOST_LEAVES - 1) / MOST_LEAVES,
               whole = (even + LEAF_STEP - 1) / LEAF_STEP * LEAF_STEP;
  return scl_max(whole, LEAST_LEAF);
}

/* While leaf k is summed, a part waits for each bit of k that is 1. */
size_t scl_reduce_parts(size_t bytes, size_t rows) {
  const size_t leaf = bytes > MOST_BYTES ? SIZE_MAX : scl_reduce_leaf_rows(rows);
  size_t most = 1;
  for (size_t k = 1; k < rows / leaf + (rows % leaf > 0); k++) {
    size_t parts = 1;
    for (size_t rest = k; rest > 0; rest /= 2)
      parts += rest % 2;
    most = scl_max(most, parts);
  }
  return most;
}

scl_reducer scl_reducer_of(const scl_reduction *sum, size_t rows) {
  return (scl_reducer){
      .sum = sum, .leaf_rows = sum->bytes > MOST_BYTES ? SIZE_MAX : scl_reduce_leaf_rows(rows)};
}

/* into += from, and close `from`. */
static scl_status merge_into(scl_reducer *r, void *into, void *from, scl_error *error) {
  const scl_status status = r->sum->merge(r->sum->context, into, from, error);
  r->sum->close(r->sum->context, from);
  return status;
}

/* While the node is the right child of the node before it, merge the two into their parent. */
scl_status scl_reducer_push(scl_reducer *r, unsigned level, size_t index, void *part,
                            scl_error *error) {
  while (r->count > 0 && index % 2 == 1 && r->nodes[r->count - 1].level == level) {
    void *left = r->nodes[r->count - 1].part;
    SCL_TRY(merge_into(r, left, part, error));
    r->count--;
    part = left;
    level++;
    index /= 2;
  }
  if (r->count == SCL_REDUCE_NODES) {
    r->sum->close(r->sum->context, part);
    return scl_fail(error, SCL_STATUS_INTERNAL, "a sum over rows has too many parts");
  }
  r->nodes[r->count].level = level;
  r->nodes[r->count].index = index;
  r->nodes[r->count++].part = part;
  return SCL_STATUS_OK;
}

scl_status scl_reducer_end_leaf(scl_reducer *r, scl_error *error) {
  void *part = r->part;
  r->part = NULL;
  return part == NULL ? SCL_STATUS_OK : scl_reducer_push(r, 0, r->leaf, part, error);
}

scl_status scl_reducer_at(scl_reducer *r, size_t row, void **part, scl_error *error) {
  const size_t leaf = row / r->leaf_rows;
  if (!r->started) r->leaf = leaf;
  r->started = true;
  while (r->leaf < leaf) {
    SCL_TRY(scl_reducer_end_leaf(r, error));
    r->leaf++;
    if (r->leaf < leaf) SCL_TRY(r->sum->open(r->sum->context, &r->part, error)); /* no rows */
  }
  if (r->part == NULL) SCL_TRY(r->sum->open(r->sum->context, &r->part, error));
  *part = r->part;
  return SCL_STATUS_OK;
}

/* Merge all nodes into the first, from the last to the first. Without rows, open an empty part. */
static scl_status fold_nodes(scl_reducer *r, scl_error *error) {
  SCL_TRY(scl_reducer_end_leaf(r, error));
  if (r->count == 0) {
    SCL_TRY(r->sum->open(r->sum->context, &r->part, error));
    SCL_TRY(scl_reducer_end_leaf(r, error));
  }
  for (; r->count > 1;) {
    r->count--;
    SCL_TRY(merge_into(r, r->nodes[r->count - 1].part, r->nodes[r->count].part, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_reducer_finish(scl_reducer *r, scl_status walked, void **part, scl_error *error) {
  const scl_status status = walked == SCL_STATUS_OK ? fold_nodes(r, error) : walked;
  if (status == SCL_STATUS_OK) {
    *part = r->nodes[0].part;
    r->count = 0;
  }
  if (r->part != NULL) r->sum->close(r->sum->context, r->part);
  for (size_t i = 0; i < r->count; i++)
    r->sum->close(r->sum->context, r->nodes[i].part);
  r->part = NULL;
  r->count = 0;
  return status;
}
