/* Bits of numbers. Compiled once per instruction set with SCL_ISA naming it (base/vector_math.cmake).
 * Comparisons are exact, so all sets give the same bits. */
#include "base/isa/bits.h"

#if defined(SCL_ISA_avx512) || defined(SCL_ISA_avx2)
#include <immintrin.h>
#endif

enum { EIGHT = 8, WORD = 64, HALF = 32 };

/* ------------------------------------------------------------ the signs of eight columns: a row
 * sets its own bit in all of them */

typedef double eight_f64 __attribute__((vector_size(64), aligned(8), may_alias));
typedef float eight_f32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int64_t eight_i64 __attribute__((vector_size(64), aligned(8), may_alias));
typedef int32_t eight_i32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t eight_u32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint64_t eight_u64 __attribute__((vector_size(64), aligned(8), may_alias));

/* TEST: of the numbers x, as a mask. */
#define SIGNS_F64(name, TEST)                                                                      \
  static void name(size_t rows, const double *z, ptrdiff_t stride, uint64_t *out) {                \
    eight_u64 sum = {0}, bit = sum + 1;                                                            \
    for (size_t i = 0; i < rows; i++, z += stride, bit += bit) {                                   \
      const eight_f64 x = *(const eight_f64 *)z;                                                   \
      sum |= (eight_u64)(TEST)&bit;                                                                \
    }                                                                                              \
    *(eight_u64 *)out = sum;                                                                       \
  }
SIGNS_F64(positive_f64, x > 0)
SIGNS_F64(not_negative_f64, ~(eight_i64)(x < 0))

void ISA_NAME(scl_signs_f64)(size_t rows, const double *z, ptrdiff_t stride, int zero,
                             uint64_t *out) {
  (zero ? not_negative_f64 : positive_f64)(rows, z, stride, out);
}

#define SIGNS_F32(name, TEST)                                                                      \
  static void name(size_t rows, const float *z, ptrdiff_t stride, uint64_t *out) {                 \
    eight_u32 sums[2] = {{0}, {0}};                                                                \
    for (size_t half = 0, i = 0; half < 2; half++) {                                               \
      eight_u32 sum = {0}, bit = sum + 1;                                                          \
      for (; i < rows && i < (half + 1) * HALF; i++, z += stride, bit += bit) {                    \
        const eight_f32 x = *(const eight_f32 *)z;                                                 \
        sum |= (eight_u32)(TEST)&bit;                                                              \
      }                                                                                            \
      sums[half] = sum;                                                                            \
    }                                                                                              \
    for (size_t j = 0; j < EIGHT; j++)                                                             \
      out[j] = sums[0][j] | (uint64_t)sums[1][j] << HALF;                                          \
  }
SIGNS_F32(positive_f32, x > 0)
SIGNS_F32(not_negative_f32, ~(eight_i32)(x < 0))

void ISA_NAME(scl_signs_f32)(size_t rows, const float *z, ptrdiff_t stride, int zero,
                             uint64_t *out) {
  (zero ? not_negative_f32 : positive_f32)(rows, z, stride, out);
}

/* ------------------------------------------------------------ 64 numbers against a threshold */

#if defined(SCL_ISA_avx512)
enum { LANES_F64 = 8, LANES_F32 = 16 };
#define MASK_F64(x, t, how)                                                                        \
  ((uint64_t)_mm512_cmp_pd_mask(_mm512_loadu_pd(x), _mm512_set1_pd(t), how))
#define MASK_F32(x, t, how)                                                                        \
  ((uint64_t)_mm512_cmp_ps_mask(_mm512_loadu_ps(x), _mm512_set1_ps(t), how))
#elif defined(SCL_ISA_avx2)
enum { LANES_F64 = 4, LANES_F32 = 8 };
#define MASK_F64(x, t, how)                                                                        \
  ((uint64_t)(uint32_t)_mm256_movemask_pd(                                                         \
      _mm256_cmp_pd(_mm256_loadu_pd(x), _mm256_set1_pd(t), how)))
#define MASK_F32(x, t, how)                                                                        \
  ((uint64_t)(uint32_t)_mm256_movemask_ps(                                                         \
      _mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_set1_ps(t), how)))
#else
enum { LANES_F64 = 1, LANES_F32 = 1, _CMP_GT_OQ = 0, _CMP_GE_OQ = 1 };
#define MASK_F64(x, t, how) ((uint64_t)((how) == _CMP_GT_OQ ? *(x) > (t) : *(x) >= (t)))
#define MASK_F32 MASK_F64
#endif

#define ABOVE(suffix, type, LANES, MASK)                                                           \
  static inline uint64_t above_##suffix(const type *x, type t) {                                   \
    uint64_t word = 0;                                                                             \
    for (size_t l = 0; l < WORD; l += LANES)                                                       \
      word |= MASK(x + l, t, _CMP_GT_OQ) << l;                                                     \
    return word;                                                                                   \
  }                                                                                                \
  static inline uint64_t reached_##suffix(const type *x, type t) {                                 \
    uint64_t word = 0;                                                                             \
    for (size_t l = 0; l < WORD; l += LANES)                                                       \
      word |= MASK(x + l, t, _CMP_GE_OQ) << l;                                                     \
    return word;                                                                                   \
  }                                                                                                \
  void ISA_NAME(scl_above_##suffix)(size_t count, const type *x, const int32_t *column,            \
                                    const type *threshold, int equal, uint64_t *out) {             \
    for (size_t j = 0; j < count; j++) {                                                           \
      const type *from = x + (size_t)column[j] * SCL_LANES;                                        \
      out[j] = equal ? reached_##suffix(from, threshold[j]) : above_##suffix(from, threshold[j]);  \
    }                                                                                              \
  }
ABOVE(f64, double, LANES_F64, MASK_F64)
ABOVE(f32, float, LANES_F32, MASK_F32)
