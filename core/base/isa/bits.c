/* Conversions between numbers and bits, compiled once per instruction set (SCL_ISA,
 * base/vector_math.cmake). Comparisons are exact, so all sets give the same bits. */
#include "base/isa/bits.h"

#if defined(SCL_ISA_avx512) || defined(SCL_ISA_avx2)
#include <immintrin.h>
#endif

enum { EIGHT = 8, WORD = 64, HALF = 32 };

/* The vectors are as wide as those of the instruction set, so that eight columns are one or
 * several: compilers split wider vectors into single numbers. */
#if defined(SCL_ISA_avx512)
#define BYTES_F64 64
#define BYTES_F32 32
#elif defined(SCL_ISA_avx2)
#define BYTES_F64 32
#define BYTES_F32 32
#else
#define BYTES_F64 16
#define BYTES_F32 16
#endif
typedef double some_f64 __attribute__((vector_size(BYTES_F64), aligned(8), may_alias));
typedef float some_f32 __attribute__((vector_size(BYTES_F32), aligned(4), may_alias));
typedef int64_t some_i64 __attribute__((vector_size(BYTES_F64), aligned(8), may_alias));
typedef int32_t some_i32 __attribute__((vector_size(BYTES_F32), aligned(4), may_alias));
typedef uint64_t some_u64 __attribute__((vector_size(BYTES_F64), aligned(8), may_alias));
typedef uint32_t some_u32 __attribute__((vector_size(BYTES_F32), aligned(4), may_alias));
enum { SOME_F64 = BYTES_F64 / 8, SOME_F32 = BYTES_F32 / 4 };

/* ------------ signs of eight columns: row i sets bit i of each word */

/* TEST: a mask from the numbers x. */
#define SIGNS_F64(name, TEST) \
  static void name(size_t rows, const double *z, ptrdiff_t stride, uint64_t *out) { \
    for (size_t j = 0; j < EIGHT; j += SOME_F64) { \
      some_u64 sum = {0}, bit = sum + 1; \
      const double *from = z + j; \
      for (size_t i = 0; i < rows; i++, from += stride, bit += bit) { \
        const some_f64 x = *(const some_f64 *)from; \
        sum |= (some_u64)(TEST)&bit; \
      } \
      *(some_u64 *)(out + j) = sum; \
    } \
  }
SIGNS_F64(positive_f64, x > 0)
SIGNS_F64(not_negative_f64, ~(some_i64)(x < 0))

void ISA_NAME(scl_signs_f64)(size_t rows, const double *z, ptrdiff_t stride, int zero,
                             uint64_t *out) {
  (zero ? not_negative_f64 : positive_f64)(rows, z, stride, out);
}

#define SIGNS_F32(name, TEST) \
  static void name(size_t rows, const float *z, ptrdiff_t stride, uint64_t *out) { \
    uint32_t sums[2][EIGHT] = {{0}, {0}}; \
    for (size_t j = 0; j < EIGHT; j += SOME_F32) \
      for (size_t half = 0, i = 0; half < 2; half++) { \
        some_u32 sum = {0}, bit = sum + 1; \
        for (; i < rows && i < (half + 1) * HALF; i++, bit += bit) { \
          const some_f32 x = *(const some_f32 *)(z + (ptrdiff_t)i * stride + (ptrdiff_t)j); \
          sum |= (some_u32)(TEST)&bit; \
        } \
        *(some_u32 *)(sums[half] + j) = sum; \
      } \
    for (size_t j = 0; j < EIGHT; j++) \
      out[j] = sums[0][j] | (uint64_t)sums[1][j] << HALF; \
  }
SIGNS_F32(positive_f32, x > 0)
SIGNS_F32(not_negative_f32, ~(some_i32)(x < 0))

void ISA_NAME(scl_signs_f32)(size_t rows, const float *z, ptrdiff_t stride, int zero,
                             uint64_t *out) {
  (zero ? not_negative_f32 : positive_f32)(rows, z, stride, out);
}

/* ------------ numbers from bits: low, xor (low ^ high) where the bit of the row is 1 */

enum { ROWS_AT_ONCE = 8, GROUPS_AHEAD = 16 };

/* Rows first .. first+rows-1 of eight columns, rows <= ROWS_AT_ONCE. */
static inline void spread_eight_f64(const uint64_t *words, size_t first, size_t rows,
                                    const double *low, const double *high, double *out,
                                    ptrdiff_t stride) {
  for (size_t j = 0; j < EIGHT; j += SOME_F64) {
    const some_u64 a = *(const some_u64 *)(low + j), change = a ^ *(const some_u64 *)(high + j);
    some_u64 bits = *(const some_u64 *)(words + j) >> (uint64_t)first;
    double *to = out + j;
    for (size_t i = 0; i < rows; i++, to += stride, bits >>= 1)
      *(some_u64 *)to = a ^ (change & ((some_u64){0} - (bits & 1)));
  }
}

/* The same for float32. */
static inline void spread_eight_f32(const uint64_t *words, size_t first, size_t rows,
                                    const double *low, const double *high, float *out,
                                    ptrdiff_t stride) {
  uint32_t narrow[EIGHT];
  float below[EIGHT], above[EIGHT];
  for (size_t j = 0; j < EIGHT; j++) {
    narrow[j] = (uint32_t)(words[j] >> first);
    below[j] = (float)low[j];
    above[j] = (float)high[j];
  }
  for (size_t j = 0; j < EIGHT; j += SOME_F32) {
    const some_u32 a = *(const some_u32 *)(below + j), change = a ^ *(const some_u32 *)(above + j);
    some_u32 bits = *(const some_u32 *)(narrow + j);
    float *to = out + j;
    for (size_t i = 0; i < rows; i++, to += stride, bits >>= 1)
      *(some_u32 *)to = a ^ (change & ((some_u32){0} - (bits & 1)));
  }
}

/* A few rows at a time for all groups, so that writes are sequential. The words of the groups may
 * be far apart in memory: they are prefetched. */
#define SPREAD(suffix, type) \
  void ISA_NAME(scl_spread_##suffix)(size_t groups, size_t apart, const uint64_t *words, \
                                     size_t first, size_t rows, const double *low, \
                                     const double *high, type *out, ptrdiff_t stride) { \
    while (rows > 0) { \
      const size_t count = rows < ROWS_AT_ONCE ? rows : ROWS_AT_ONCE; \
      for (size_t g = 0; g < groups; g++) { \
        if (g + GROUPS_AHEAD < groups) \
          __builtin_prefetch(words + (g + GROUPS_AHEAD) * apart * EIGHT); \
        spread_eight_##suffix(words + g * apart * EIGHT, first, count, low + g * EIGHT, \
                              high + g * EIGHT, out + g * EIGHT, stride); \
      } \
      first += count; \
      rows -= count; \
      out += (ptrdiff_t)count * stride; \
    } \
  }
SPREAD(f64, double)
SPREAD(f32, float)

/* ------------ 64 numbers against a threshold */

#if defined(SCL_ISA_avx512)
enum { LANES_F64 = 8, LANES_F32 = 16 };
#define MASK_F64(x, t, how) \
  ((uint64_t)_mm512_cmp_pd_mask(_mm512_loadu_pd(x), _mm512_set1_pd(t), how))
#define MASK_F32(x, t, how) \
  ((uint64_t)_mm512_cmp_ps_mask(_mm512_loadu_ps(x), _mm512_set1_ps(t), how))
#elif defined(SCL_ISA_avx2)
enum { LANES_F64 = 4, LANES_F32 = 8 };
#define MASK_F64(x, t, how) \
  ((uint64_t)(uint32_t)_mm256_movemask_pd( \
      _mm256_cmp_pd(_mm256_loadu_pd(x), _mm256_set1_pd(t), how)))
#define MASK_F32(x, t, how) \
  ((uint64_t)(uint32_t)_mm256_movemask_ps( \
      _mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_set1_ps(t), how)))
#else
enum { LANES_F64 = 1, LANES_F32 = 1, _CMP_GT_OQ = 0, _CMP_GE_OQ = 1 };
#define MASK_F64(x, t, how) ((uint64_t)((how) == _CMP_GT_OQ ? *(x) > (t) : *(x) >= (t)))
#define MASK_F32 MASK_F64
#endif

#define ABOVE(suffix, type, LANES, MASK) \
  static inline uint64_t above_##suffix(const type *x, type t) { \
    uint64_t word = 0; \
    for (size_t l = 0; l < WORD; l += LANES) \
      word |= MASK(x + l, t, _CMP_GT_OQ) << l; \
    return word; \
  } \
  static inline uint64_t reached_##suffix(const type *x, type t) { \
    uint64_t word = 0; \
    for (size_t l = 0; l < WORD; l += LANES) \
      word |= MASK(x + l, t, _CMP_GE_OQ) << l; \
    return word; \
  } \
  void ISA_NAME(scl_above_##suffix)(size_t count, const type *x, const int32_t *column, \
                                    const type *threshold, int equal, uint64_t *out) { \
    for (size_t j = 0; j < count; j++) { \
      const type *from = x + (size_t)column[j] * SCL_LANES; \
      out[j] = equal ? reached_##suffix(from, threshold[j]) : above_##suffix(from, threshold[j]); \
    } \
  }
ABOVE(f64, double, LANES_F64, MASK_F64)
ABOVE(f32, float, LANES_F32, MASK_F32)
