/* Products with a tile of kernel values, compiled once for each instruction set. Their sums have one
 * order for every row, whatever rows stand beside it. */
#ifndef SCULLERY_SHARED_EXPANSION_SUM_H
#define SCULLERY_SHARED_EXPANSION_SUM_H

#include "shared/isa.h"

#include <stddef.h>

enum { EXPANSION_LANES = 32 }; /* kept is a multiple of it */

/* out_iq += sum_j k_ij b_qj: k rows x kept, b functions x kept, out rows x functions. */
ISA_INLINE void expansion_sum_any(size_t rows, size_t functions, size_t kept,
                                  const double *restrict k, size_t k_stride,
                                  const double *restrict b, size_t b_stride, double *out,
                                  ptrdiff_t stride) {
  for (size_t i = 0; i < rows; i++)
    for (size_t q = 0; q < functions; q++) {
      const double *x = k + i * k_stride, *y = b + q * b_stride;
      double part[EXPANSION_LANES] = {0};
      for (size_t j = 0; j < kept; j += EXPANSION_LANES)
        for (size_t l = 0; l < EXPANSION_LANES; l++)
          part[l] += x[j + l] * y[j + l];
      for (size_t half = EXPANSION_LANES / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
          part[l] += part[l + half];
      out[(ptrdiff_t)i * stride + (ptrdiff_t)q] += part[0];
    }
}

typedef void (*expansion_sum)(size_t rows, size_t functions, size_t kept, const double *k,
                              size_t k_stride, const double *b, size_t b_stride, double *out,
                              ptrdiff_t stride);

#define EXPANSION_SUM(target, isa)                                                                 \
  target static void expansion_sum_##isa(size_t rows, size_t functions, size_t kept,               \
                                         const double *k, size_t k_stride, const double *b,        \
                                         size_t b_stride, double *out, ptrdiff_t stride) {         \
    expansion_sum_any(rows, functions, kept, k, k_stride, b, b_stride, out, stride);               \
  }
ISA_EACH_SET(EXPANSION_SUM, "avx512f")

static inline expansion_sum expansion_sum_get(void) { return ISA_CHOOSE_SET(expansion_sum); }

#endif
