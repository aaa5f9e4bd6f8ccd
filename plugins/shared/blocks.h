/* A batch of parameters cut at the blocks that a sampler draws as one: an orthogonal matrix, a
 * Hadamard product, a deal of the columns. A batch may begin and end inside a block. */
#ifndef SCULLERY_SHARED_BLOCKS_H
#define SCULLERY_SHARED_BLOCKS_H

#include <scullery/plugin.h>

typedef struct block_part {
  uint64_t block;     /* its number */
  size_t from, count; /* the parameters of this block that are in the batch: from .. from+count-1 */
  size_t at;          /* the first one's place in the batch */
} block_part;

/* The part after this one, beginning with a part that is all zeros; false at the end of the
 * batch. */
static inline bool block_next(const scl_parameters *batch, size_t size, block_part *part) {
  part->at += part->count;
  if (part->at >= batch->count) return false;
  part->block = (batch->first + part->at) / size;
  part->from = (batch->first + part->at) % size;
  const size_t here = size - part->from, left = batch->count - part->at;
  part->count = here < left ? here : left;
  return true;
}

#endif
