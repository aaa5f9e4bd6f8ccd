/* Products of whole numbers with float64 numbers, compiled once per instruction set (SCL_ISA):
 * whole numbers are converted in registers; only scl_whole_widen stores them, for thin products. */
#include "base/isa/whole.h"

#define INLINE static inline __attribute__((always_inline))

/* Vectors of features and columns of d whose sums stay in registers. */
enum { LINE = 64, LANES = VECTOR_BYTES / 8, PANEL = 2, WIDE = PANEL * LANES, COLUMNS = 4 };
typedef double vector __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

#if defined(SCL_ISA_avx512)
INLINE vector vector_i8(const int8_t *v) {
  return _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadu_si64(v)));
}
INLINE vector vector_i16(const int16_t *v) {
  return _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_loadu_si128((const void *)v)));
}
#elif defined(SCL_ISA_avx2)
INLINE vector vector_i8(const int8_t *v) {
  return _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_loadu_si32(v)));
}
INLINE vector vector_i16(const int16_t *v) {
  return _mm256_cvtepi32_pd(_mm_cvtepi16_epi32(_mm_loadu_si64(v)));
}
#else
INLINE vector vector_i8(const int8_t *v) { return (vector){v[0], v[1]}; }
INLINE vector vector_i16(const int16_t *v) { return (vector){v[0], v[1]}; }
#endif

#define NUMBERS(suffix, type) \
  void ISA_NAME(scl_whole_widen_##suffix)(size_t rows, size_t cols, const type *v, \
                                          ptrdiff_t stride, ptrdiff_t ahead, double *restrict out, \
                                          size_t apart) { \
    for (; rows > 0; rows--, v += stride, out += apart) { \
      for (size_t j = 0; j < cols; j += LINE / sizeof(type)) \
        __builtin_prefetch(v + ahead + j, 0, 2); \
      for (size_t j = 0; j < cols; j++) \
        out[j] = (double)v[j]; \
    } \
  } \
\
  /* WIDE features and `columns` <= COLUMNS columns of d; it fetches the next `rows` rows. */ \
  INLINE void tile_##suffix(const size_t columns, size_t rows, const type *v, ptrdiff_t stride, \
                            const double *d, size_t k, double *out, size_t apart) { \
    vector sum[COLUMNS][PANEL] = {{{0}}}; \
    const ptrdiff_t next = (ptrdiff_t)rows * stride; \
    for (; rows > 0; rows--, v += stride, d += k) { \
      const vector first = vector_##suffix(v), second = vector_##suffix(v + LANES); \
      __builtin_prefetch(v + next, 0, 2); \
      for (size_t q = 0; q < columns; q++) { \
        sum[q][0] += first * d[q]; \
        sum[q][1] += second * d[q]; \
      } \
    } \
    for (size_t q = 0; q < columns; q++, out += apart) { \
      *(vector *)out += sum[q][0]; \
      *(vector *)(out + LANES) += sum[q][1]; \
    } \
  } \
\
  static void columns_##suffix(size_t columns, size_t rows, const type *v, ptrdiff_t stride, \
                               const double *d, size_t k, double *out, size_t apart) { \
    if (columns == 1) \
      tile_##suffix(1, rows, v, stride, d, k, out, apart); \
    else if (columns == 2) \
      tile_##suffix(2, rows, v, stride, d, k, out, apart); \
    else if (columns == 3) \
      tile_##suffix(3, rows, v, stride, d, k, out, apart); \
    else \
      tile_##suffix(COLUMNS, rows, v, stride, d, k, out, apart); \
  } \
\
  void ISA_NAME(scl_whole_adjoint_##suffix)(size_t rows, size_t cols, size_t k, const type *v, \
                                            ptrdiff_t stride, const double *d, double *out, \
                                            size_t apart) { \
    size_t j = 0; \
    for (; j + WIDE <= cols; j += WIDE) \
      for (size_t q = 0; q < k; q += COLUMNS) \
        columns_##suffix(k - q, rows, v + j, stride, d + q, k, out + q * apart + j, apart); \
    for (; j < cols; j++) \
      for (size_t q = 0; q < k; q++) { \
        double sum = 0; \
        for (size_t r = 0; r < rows; r++) \
          sum += v[(ptrdiff_t)r * stride + (ptrdiff_t)j] * d[r * k + q]; \
        out[q * apart + j] += sum; \
      } \
  }
NUMBERS(i8, int8_t)
NUMBERS(i16, int16_t)
