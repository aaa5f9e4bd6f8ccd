/* The inner loop of kernel expansions: a tile of kernel values times coefficients. */
#include "shared/expansion_sum.h"

#include "shared/isa.h"

enum { EXPANSION_LANES = 8 }; /* partial sums; kept is a multiple of it */

#if defined(__GNUC__) /* whose loops over lanes compilers turn into permutations */
typedef double expansion_eight __attribute__((vector_size(64), aligned(8), may_alias));
#define EXPANSION_ADD(part, x, y) \
  (*(expansion_eight *)(part) += *(const expansion_eight *)(x) * *(const expansion_eight *)(y))
#else
#define EXPANSION_ADD(part, x, y) \
  for (size_t l = 0; l < EXPANSION_LANES; l++) \
  (part)[l] += (x)[l] * (y)[l]
#endif

/* out_iq += sum_j k_ij b_qj for at most four rows and two functions, so that each loaded value is
 * used more than once. Eight partial sums in lanes, added in one fixed order. */
ISA_INLINE void expansion_block(const size_t rows, const size_t functions, size_t kept,
                                const double *restrict k, size_t k_stride, const double *restrict b,
                                size_t b_stride, double *out, ptrdiff_t stride) {
  double part[4][2][EXPANSION_LANES] = {0};
  for (size_t j = 0; j < kept; j += EXPANSION_LANES)
    for (size_t i = 0; i < rows; i++)
      for (size_t q = 0; q < functions; q++)
        EXPANSION_ADD(part[i][q], k + i * k_stride + j, b + q * b_stride + j);
  for (size_t i = 0; i < rows; i++)
    for (size_t q = 0; q < functions; q++) {
      const double *p = part[i][q];
      out[(ptrdiff_t)i * stride + (ptrdiff_t)q] +=
          ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
    }
}

/* The same for any number of functions, two at a time. */
ISA_INLINE void expansion_few_rows(const size_t rows, size_t functions, size_t kept,
                                   const double *k, size_t k_stride, const double *b,
                                   size_t b_stride, double *out, ptrdiff_t stride) {
  size_t q = 0;
  for (; q + 2 <= functions; q += 2)
    expansion_block(rows, 2, kept, k, k_stride, b + q * b_stride, b_stride, out + q, stride);
  if (q < functions)
    expansion_block(rows, 1, kept, k, k_stride, b + q * b_stride, b_stride, out + q, stride);
}

/* out_iq += sum_j k_ij b_qj: k rows x kept, b functions x kept, out rows x functions. */
ISA_INLINE void expansion_sum_any(size_t rows, size_t functions, size_t kept, const double *k,
                                  size_t k_stride, const double *b, size_t b_stride, double *out,
                                  ptrdiff_t stride) {
  size_t i = 0;
  for (; i + 4 <= rows; i += 4)
    expansion_few_rows(4, functions, kept, k + i * k_stride, k_stride, b, b_stride,
                       out + (ptrdiff_t)i * stride, stride);
  for (; i < rows; i++)
    expansion_few_rows(1, functions, kept, k + i * k_stride, k_stride, b, b_stride,
                       out + (ptrdiff_t)i * stride, stride);
}

#define EXPANSION_SUM(target, isa) \
  target static void expansion_sum_##isa(size_t rows, size_t functions, size_t kept, \
                                         const double *k, size_t k_stride, const double *b, \
                                         size_t b_stride, double *out, ptrdiff_t stride) { \
    expansion_sum_any(rows, functions, kept, k, k_stride, b, b_stride, out, stride); \
  }
ISA_EACH_SET(EXPANSION_SUM, "avx512f")

expansion_sum expansion_sum_get(void) { return ISA_CHOOSE_SET(expansion_sum); }
