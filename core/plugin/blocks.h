/* Blocks in other dtypes: what the host converts for components that do not take a block's own. */
#ifndef SCULLERY_BLOCKS_H
#define SCULLERY_BLOCKS_H

#include "base/memory.h"

#include <string.h>

/* Whether a component with these `dtypes` (bits; 0: float64 alone) takes blocks of this dtype. */
static inline bool scl_takes(uint32_t dtypes, scl_dtype dtype) {
  return (dtypes == 0 ? SCL_BIT(SCL_DTYPE_FLOAT64) : dtypes) & SCL_BIT(dtype);
}

/* The same block as a read-only one. The two structs have the same members, so a copy of the bytes
 * converts one to the other. */
_Static_assert(sizeof(scl_block) == sizeof(scl_const_block), "a block and its view are alike");
static inline scl_const_block scl_block_view(const scl_block *b) {
  scl_const_block view;
  memcpy(&view, b, sizeof view);
  return view;
}

/* A float64 block without gaps over `numbers`, rows * cols * planes of them, planes outermost. The
 * caller keeps the memory. */
scl_block scl_block_packed(size_t rows, size_t cols, size_t planes, double *numbers);
/* A float64 copy of a block (float64 or float32) without gaps in `numbers`, which has room for
 * scl_block_numbers of it. */
scl_const_block scl_block_widen(const scl_const_block *from, double *numbers);
/* Round float64 numbers without gaps (planes outermost) into a float32 block of that shape. */
void scl_block_narrow(const double *numbers, const scl_block *to);
/* The number of numbers of a block. */
static inline size_t scl_block_numbers(const scl_const_block *b) {
  return b->rows * b->cols * b->planes;
}

#endif
