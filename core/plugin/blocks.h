/* Blocks in other dtypes: what the host converts for components that do not take a block's own. */
#ifndef SCULLERY_BLOCKS_H
#define SCULLERY_BLOCKS_H

#include "base/memory.h"

#include <string.h>

/* Whether a component with that `dtypes` (0: float64 alone) takes blocks of this dtype. */
static inline bool scl_takes(uint32_t dtypes, scl_dtype dtype) {
  return (dtypes == 0 ? SCL_BIT(SCL_DTYPE_FLOAT64) : dtypes) & SCL_BIT(dtype);
}

_Static_assert(sizeof(scl_block) == sizeof(scl_const_block), "a block and its view are alike");
static inline scl_const_block scl_block_view(const scl_block *b) {
  scl_const_block view;
  memcpy(&view, b, sizeof view);
  return view;
}

/* A packed float64 block of the same shape over `numbers`, rows cols planes of them. */
scl_block scl_block_packed(size_t rows, size_t cols, size_t planes, double *numbers);
/* A packed float64 copy of a block in `numbers`. */
scl_const_block scl_block_widen(const scl_const_block *from, double *numbers);
/* Packed float64 numbers into a float32 block. */
void scl_block_narrow(const double *numbers, const scl_block *to);
/* How many numbers a block has. */
static inline size_t scl_block_numbers(const scl_const_block *b) {
  return b->rows * b->cols * b->planes;
}

#endif
