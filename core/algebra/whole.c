/* Plain kernels of whole-number features. */
#include "algebra/whole.h"

#include "algebra/symmetric_internal.h"
#include "base/pool.h"
#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_bits;

const char *scl_whole_name(scl_whole type) {
  static const char *const names[] = {NULL, "int8", "int16"};
  return names[type];
}

bool scl_whole_round(scl_whole type, scl_dtype dtype, size_t count, const void *y,
                     const void *offset, const void *inverse, void *v, size_t *clipped) {
  const float most = (float)scl_whole_most(type);
  if (dtype != SCL_DTYPE_FLOAT32) return false;
  for (size_t j = 0; j < count; j++) {
    const float from = ((const float *)y)[j];
    const float gap = offset == NULL ? from : from - ((const float *)offset)[j];
    const float scaled = gap * ((const float *)inverse)[j];
    if (!isfinite(from)) return false;
    float whole = rintf(scaled);
    if (fabsf(scaled) > most + 0.5F) *clipped += 1;
    whole = whole > most ? most : whole < -most ? -most : whole;
    if (type == SCL_WHOLE_INT8)
      ((int8_t *)v)[j] = (int8_t)whole;
    else
      ((int16_t *)v)[j] = (int16_t)whole;
  }
  return true;
}

static int64_t at(scl_whole type, const void *v, size_t i) {
  return type == SCL_WHOLE_INT8 ? ((const int8_t *)v)[i] : ((const int16_t *)v)[i];
}

scl_status scl_whole_accumulate(const scl_whole_totals *totals, scl_whole type, const void *v,
                                ptrdiff_t stride, size_t rows, unsigned shift, scl_error *error) {
  const scl_symmetric *a = totals->low;
  (void)error;
  for (size_t i = 0; i < a->n; i++)
    for (size_t j = 0; j <= i; j++) {
      int64_t sum = 0;
      for (size_t r = 0; r < rows; r++)
        sum += at(type, v, (size_t)((ptrdiff_t)r * stride) + i) *
               at(type, v, (size_t)((ptrdiff_t)r * stride) + j);
      const ptrdiff_t place = scl_tile_at(a, i / a->tile, j / a->tile) - a->data +
                              (ptrdiff_t)(i % a->tile * a->tile + j % a->tile);
      int64_t *low = (int64_t *)(void *)a->data + place;
      if (totals->high == NULL) {
        *low += sum * ((int64_t)1 << shift);
        continue;
      }
      int64_t *high = (int64_t *)(void *)totals->high->data + place;
      __extension__ const __int128 wide = sum;
      const wide_bits whole =
          ((wide_bits)(uint64_t)*high << 64 | (uint64_t)*low) + ((wide_bits)wide << shift);
      *low = (int64_t)(uint64_t)whole;
      *high = (int64_t)(uint64_t)(whole >> 64);
    }
  return SCL_STATUS_OK;
}

void scl_whole_product(scl_whole type, size_t rows, size_t cols, const void *v, ptrdiff_t stride,
                       const double *a, size_t k, double *out) {
  for (size_t i = 0; i < rows; i++)
    for (size_t q = 0; q < k; q++) {
      double sum = 0;
      for (size_t j = 0; j < cols; j++)
        sum += (double)at(type, v, (size_t)((ptrdiff_t)i * stride) + j) * a[q * cols + j];
      out[i * k + q] = sum;
    }
}

void scl_whole_adjoint(scl_whole type, size_t rows, size_t cols, const void *v, ptrdiff_t stride,
                       const double *d, size_t k, double *sums) {
  for (size_t i = 0; i < rows; i++)
    for (size_t q = 0; q < k; q++)
      for (size_t j = 0; j < cols; j++)
        sums[q * cols + j] +=
            (double)at(type, v, (size_t)((ptrdiff_t)i * stride) + j) * d[i * k + q];
}
