/* Conversion of blocks of numbers to float64, for components that take float64 alone, and back.
 * nonlinearity.c, sampler.c and solver.c call it around slots. */
#include "plugin/blocks.h"

#include <string.h>

scl_block scl_block_packed(size_t rows, size_t cols, size_t planes, double *numbers) {
  return (scl_block){.data = numbers,
                     .dtype = SCL_DTYPE_FLOAT64,
                     .rows = rows,
                     .cols = cols,
                     .planes = planes,
                     .row_stride = (ptrdiff_t)cols,
                     .plane_stride = (ptrdiff_t)(rows * cols)};
}

scl_const_block scl_block_widen(const scl_const_block *from, double *numbers) {
  for (size_t k = 0; k < from->planes; k++)
    for (size_t i = 0; i < from->rows; i++) {
      const ptrdiff_t at = (ptrdiff_t)i * from->row_stride + (ptrdiff_t)k * from->plane_stride;
      double *to = numbers + (k * from->rows + i) * from->cols;
      if (from->dtype == SCL_DTYPE_FLOAT64)
        memcpy(to, (const double *)from->data + at, from->cols * sizeof *to);
      else
        scl_widen(from->cols, (const float *)from->data + at, to);
    }
  const scl_block packed = scl_block_packed(from->rows, from->cols, from->planes, numbers);
  return scl_block_view(&packed);
}

void scl_block_narrow(const double *numbers, const scl_block *to) {
  for (size_t k = 0; k < to->planes; k++)
    for (size_t i = 0; i < to->rows; i++)
      scl_narrow(to->cols, numbers + (k * to->rows + i) * to->cols,
                 (float *)to->data + (ptrdiff_t)i * to->row_stride +
                     (ptrdiff_t)k * to->plane_stride);
}
