/* Sums of products of whole numbers, compiled once per instruction set (SCL_ISA):
 *
 *   s_ij = sum over rows r of v_ri v_rj   modulo 2^32
 *
 * for columns packed in strips (scl_whole_kernel in base/loops.h). Sums modulo 2^32 are exact in
 * any order, so that intermediate results may exceed 2^31 if the final sum does not. Three forms:
 *
 * - "pairs": two rows of 16 bits are a lane of 32 bits; one instruction multiplies both and adds
 *   (vpmaddwd; with VNNI vpdpwssd, which adds to the sum as well).
 * - "crossed": four rows are two lanes, p = (v_0, v_2) and q = (v_1, v_3) of each column. Of the
 *   columns i and j, both halves of (p_i + q_j) (q_i + p_j) are a product like
 *     (v_0i + v_1j) (v_1i + v_0j) = v_0i v_0j + v_1i v_1j + v_0i v_1i + v_0j v_1j,
 *   where the last two terms belong to one column each and are taken off. This is half of the
 *   multiplications (Winograd 1968), which pays where only one unit in three multiplies.
 * - "quads": four rows of 8 bits are a lane; vpdpbusd multiplies bytes without sign by bytes with
 *   a sign, so the left ones are v + 128, and 128 times the sum of the column j is taken off. */
#include "base/isa/whole.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
/* Unrolled before the compiler decides whether an array stays in registers. */
#ifdef __clang__
#define EACH(k, count) for (size_t k = 0; k < (count); k++)
#else
#define EACH(k, count) _Pragma("GCC unroll 8") for (size_t k = 0; k < (count); k++)
#endif

/* ------------ packing */

/* x = the rows of one step from row r on, ROWS x WIDTH numbers of v; zeros for missing ones. */
#define FETCH(type, ROWS, WIDTH) \
  type x[ROWS][WIDTH]; \
  if (rows - r >= ROWS && cols == WIDTH) \
    for (size_t k = 0; k < ROWS; k++) \
      memcpy(x[k], v + (ptrdiff_t)(r + k) * stride, sizeof *x); \
  else { \
    memset(x, 0, sizeof x); \
    for (size_t k = 0; k < ROWS && r + k < rows; k++) \
      memcpy(x[k], v + (ptrdiff_t)(r + k) * stride, cols * sizeof **x); \
  }

/* Step `first` of a strip, after the 2 width numbers at its beginning; `words` numbers for each
 * step. */
#define STEPS(strip, width, words, first) ((uint32_t *)(strip) + 2 * (width) + (first) * (words))

INLINE uint32_t lane(int16_t low, int16_t high) {
  return (uint16_t)low | (uint32_t)(uint16_t)high << 16;
}

#define PACK_PAIRS(name, type, WIDTH) \
  static void name(size_t rows, size_t cols, const void *from, ptrdiff_t stride, void *strip, \
                   size_t first) { \
    const type *v = from; \
    uint32_t *to = STEPS(strip, WIDTH, WIDTH, first); \
    for (size_t r = 0; r < rows; r += 2, to += WIDTH) { \
      FETCH(type, 2, WIDTH) \
      for (size_t j = 0; j < WIDTH; j++) \
        to[j] = lane(x[0][j], x[1][j]); \
    } \
  }

#if defined(SCL_ISA_avx512)
/* ------------ AVX-512 */

enum { WIDTH = 48, LANES = 16, VECTORS = 3, TALL = 8, STEPS_MOST = 256 };
PACK_PAIRS(pack_pairs_i8, int8_t, WIDTH)
/* Numbers of row r, LANES of a lane each: those of `there` without a sign, else zeros. */
#define LANES_OF(name, type, load, widen) \
  INLINE __m512i name(const type *v, size_t rows, size_t r, ptrdiff_t stride, size_t w, \
                      const __mmask16 *there) { \
    return widen(load(r < rows ? there[w] : 0, v + (ptrdiff_t)r * stride + w * LANES)); \
  }
LANES_OF(bytes_of, int8_t, _mm_maskz_loadu_epi8, _mm512_cvtepu8_epi32)
LANES_OF(numbers_of, int16_t, _mm256_maskz_loadu_epi16, _mm512_cvtepu16_epi32)

/* The columns of each vector that are there. */
INLINE void masks(size_t cols, __mmask16 *there) {
  for (size_t w = 0; w < VECTORS; w++)
    there[w] = (__mmask16)(((1ull << cols) - 1) >> w * LANES);
}

static void pack_pairs_i16(size_t rows, size_t cols, const void *from, ptrdiff_t stride,
                           void *strip, size_t first) {
  const int16_t *v = from;
  uint32_t *to = STEPS(strip, WIDTH, WIDTH, first);
  __mmask16 there[VECTORS];
  masks(cols, there);
  for (size_t r = 0; r < rows; r += 2, to += WIDTH)
    EACH(w, VECTORS)
  _mm512_store_si512(
      to + w * LANES,
      _mm512_or_si512(numbers_of(v, rows, r, stride, w, there),
                      _mm512_slli_epi32(numbers_of(v, rows, r + 1, stride, w, there), 16)));
}

INLINE __m512i add_pairs(__m512i sum, __m512i left, __m512i right) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(left, right));
}

/* By assembler, because gcc 12 copies the sums of these intrinsics and spills them to memory. */
#ifdef SCULLERY_NO_ASSEMBLER
INLINE __m512i dot_pairs(__m512i sum, __m512i left, __m512i right) {
  return _mm512_dpwssd_epi32(sum, left, right);
}
INLINE __m512i dot_quads(__m512i sum, __m512i left, __m512i right) {
  return _mm512_dpbusd_epi32(sum, left, right);
}
#else
INLINE __m512i dot_pairs(__m512i sum, __m512i left, __m512i right) {
  __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
  return sum;
}
INLINE __m512i dot_quads(__m512i sum, __m512i left, __m512i right) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
  return sum;
}
#endif

/* A step: the right bytes of WIDTH columns, then the left ones. */
static void pack_quads(size_t rows, size_t cols, const void *from, ptrdiff_t stride, void *strip,
                       size_t first) {
  const int8_t *v = from;
  uint32_t *right_sums = (uint32_t *)strip + WIDTH, *to = STEPS(strip, WIDTH, 2 * WIDTH, first);
  const __m512i signs = _mm512_set1_epi8(-128);
  __m512i sums[VECTORS] = {_mm512_setzero_si512()};
  __mmask16 there[VECTORS];
  masks(cols, there);
  for (size_t r = 0; r < rows; r += 4, to += 2 * WIDTH)
    EACH(w, VECTORS) {
      __m512i bytes = bytes_of(v, rows, r, stride, w, there);
      for (size_t k = 1; k < 4; k++)
        bytes = _mm512_or_si512(
            bytes, _mm512_slli_epi32(bytes_of(v, rows, r + k, stride, w, there), 8 * (unsigned)k));
      _mm512_store_si512(to + w * LANES, bytes);
      _mm512_store_si512(to + WIDTH + w * LANES, _mm512_xor_si512(bytes, signs));
      sums[w] = dot_quads(sums[w], signs, bytes);
    }
  EACH(w, VECTORS)
  _mm512_store_si512(right_sums + w * LANES,
                     _mm512_sub_epi32(_mm512_load_si512(right_sums + w * LANES), sums[w]));
}

/* TALL x 16 vectors sums; `words` numbers a step, `at` of which the left ones begin. */
#define TILE(name, ADD, words, at) \
  INLINE void name##_tile(const size_t vectors, size_t steps, const int32_t *left, size_t i, \
                          const int32_t *right, int32_t *sums) { \
    __m512i sum[TALL][VECTORS]; \
    EACH(k, TALL) EACH(w, vectors) sum[k][w] = _mm512_load_si512(right + WIDTH + w * LANES); \
    const int32_t *a = left + 2 * WIDTH + at + i, *b = right + 2 * WIDTH; \
    for (; steps > 0; steps--, a += words, b += words) { \
      __m512i columns[VECTORS]; \
      EACH(w, vectors) columns[w] = _mm512_load_si512(b + w * LANES); \
      EACH(k, TALL) { \
        const __m512i number = _mm512_set1_epi32(a[k]); \
        EACH(w, vectors) sum[k][w] = ADD(sum[k][w], number, columns[w]); \
      } \
    } \
    EACH(k, TALL) \
    EACH(w, vectors) _mm512_storeu_si512(sums + k * WIDTH + w * LANES, sum[k][w]); \
  } \
\
  static void name(size_t steps, size_t cols, const void *left, size_t i, const void *right, \
                   int32_t *sums) { \
    if (cols <= LANES) \
      name##_tile(1, steps, left, i, right, sums); \
    else if (cols <= 2 * LANES) \
      name##_tile(2, steps, left, i, right, sums); \
    else \
      name##_tile(3, steps, left, i, right, sums); \
  }
TILE(pairs, add_pairs, WIDTH, 0)
TILE(vnni_pairs, dot_pairs, WIDTH, 0)
TILE(vnni_quads, dot_quads, 2 * WIDTH, WIDTH)

#define KERNEL(vnni, rows, words, pack, product) \
  { vnni, rows, STEPS_MOST, WIDTH, TALL, (words) * sizeof(int32_t), pack, product }
static const scl_whole_kernel kernel_i8 = KERNEL(false, 2, WIDTH, pack_pairs_i8, pairs),
                              kernel_i16 = KERNEL(false, 2, WIDTH, pack_pairs_i16, pairs),
                              vnni_i8 = KERNEL(true, 4, 2 * WIDTH, pack_quads, vnni_quads),
                              vnni_i16 = KERNEL(true, 2, WIDTH, pack_pairs_i16, vnni_pairs);
#define KERNELS \
  {&vnni_i8, &kernel_i8}, { &vnni_i16, &kernel_i16 }

#elif defined(SCL_ISA_avx2)
/* ------------ AVX2 */

enum { WIDTH = 16, LANES = 8, VECTORS = 2, TALL = 4, STEPS_MOST = 128, WORDS = 2 * WIDTH };

#define PACK_CROSSED(name, type) \
  static void name(size_t rows, size_t cols, const void *from, ptrdiff_t stride, void *strip, \
                   size_t first) { \
    const type *v = from; \
    uint32_t own[WIDTH] = {0}, *to = STEPS(strip, WIDTH, WORDS, first), *sums = strip; \
    for (size_t r = 0; r < rows; r += 4, to += WORDS) { \
      FETCH(type, 4, WIDTH) \
      for (size_t j = 0; j < WIDTH; j++) { \
        to[j] = lane(x[0][j], x[2][j]); \
        to[WIDTH + j] = lane(x[1][j], x[3][j]); \
        own[j] += (uint32_t)(x[0][j] * x[1][j] + x[2][j] * x[3][j]); \
      } \
    } \
    for (size_t j = 0; j < WORDS; j++) \
      sums[j] -= own[j % WIDTH]; \
  }
PACK_CROSSED(pack_i8, int8_t)
PACK_CROSSED(pack_i16, int16_t)

/* Instructions that stay in this order: gcc 12 would begin several products before it adds one, and
 * spill their sums. */
INLINE __m256i copies(const int32_t *number) {
  __m256i out;
  __asm__ volatile("vpbroadcastd %1, %0" : "=x"(out) : "m"(*number));
  return out;
}
INLINE __m256i plus(__m256i x, const int32_t *at) {
  __m256i out;
  __asm__ volatile("vpaddw %2, %1, %0" : "=x"(out) : "x"(x), "m"(*(const __m256i *)at));
  return out;
}
INLINE __m256i times(__m256i x, __m256i y) {
  __m256i out;
  __asm__ volatile("vpmaddwd %2, %1, %0" : "=x"(out) : "x"(x), "x"(y));
  return out;
}
INLINE __m256i sum_of(__m256i x, __m256i y) {
  __asm__ volatile("vpaddd %1, %0, %0" : "+x"(x) : "x"(y));
  return x;
}

/* TALL x 8 vectors sums. Three products are under way: that of x and y is made, the next factors
 * are formed, and the product before is added. */
INLINE void crossed_tile(const size_t vectors, size_t steps, const int32_t *left, size_t i,
                         const int32_t *right, int32_t *sums) {
  const size_t count = TALL * vectors;
  __m256i sum[TALL * VECTORS];
  EACH(k, TALL)
  EACH(w, vectors)
  sum[k * vectors + w] = _mm256_add_epi32(_mm256_set1_epi32(left[i + k]),
                                          *(const __m256i *)(right + WIDTH + w * LANES));
  const int32_t *a = left + WORDS + i, *b = right + WORDS;
  __m256i x = _mm256_setzero_si256(), y = x, last = x;
  for (; steps > 0; steps--, a += WORDS, b += WORDS)
    EACH(k, TALL) {
      const __m256i p = copies(a + k), q = copies(a + WIDTH + k);
      EACH(w, vectors) {
        const size_t before = (k * vectors + w + count - 2) % count;
        const __m256i next = times(x, y);
        x = plus(p, b + WIDTH + w * LANES);
        y = plus(q, b + w * LANES);
        sum[before] = sum_of(sum[before], last);
        last = next;
      }
    }
  sum[count - 2] = sum_of(sum[count - 2], last);
  sum[count - 1] = sum_of(sum[count - 1], times(x, y));
  EACH(k, TALL)
  EACH(w, vectors)
  *(__m256i *)(sums + k * WIDTH + w * LANES) = sum[k * vectors + w];
}

static void crossed(size_t steps, size_t cols, const void *left, size_t i, const void *right,
                    int32_t *sums) {
  if (cols <= LANES)
    crossed_tile(1, steps, left, i, right, sums);
  else
    crossed_tile(2, steps, left, i, right, sums);
}

#define KERNEL(pack) \
  { false, 4, STEPS_MOST, WIDTH, TALL, WORDS * sizeof(int32_t), pack, crossed }
static const scl_whole_kernel kernel_i8 = KERNEL(pack_i8), kernel_i16 = KERNEL(pack_i16);
#define KERNELS \
  {&kernel_i8}, { &kernel_i16 }

#else

/* ------------ plain C */

enum { WIDTH = 16, TALL = 4, STEPS_MOST = 256 };
PACK_PAIRS(pack_i8, int8_t, WIDTH)
PACK_PAIRS(pack_i16, int16_t, WIDTH)

static void pairs(size_t steps, size_t cols, const void *left, size_t i, const void *right,
                  int32_t *sums) {
  const int16_t *a = (const int16_t *)((const int32_t *)left + 2 * WIDTH + i),
                *b = (const int16_t *)((const int32_t *)right + 2 * WIDTH);
  memset(sums, 0, TALL * WIDTH * sizeof *sums);
  for (; steps > 0; steps--, a += 2 * WIDTH, b += 2 * WIDTH)
    for (size_t k = 0; k < TALL; k++)
      for (size_t j = 0; j < cols; j++)
        sums[k * WIDTH + j] += a[2 * k] * b[2 * j] + a[2 * k + 1] * b[2 * j + 1];
}

#define KERNEL(pack) \
  { false, 2, STEPS_MOST, WIDTH, TALL, WIDTH * sizeof(int32_t), pack, pairs }
static const scl_whole_kernel kernel_i8 = KERNEL(pack_i8), kernel_i16 = KERNEL(pack_i16);
#define KERNELS \
  {&kernel_i8}, { &kernel_i16 }
#endif

/* ------------ totals */

static void add(size_t rows, size_t cols, const int32_t *sums, size_t apart, unsigned shift,
                uint64_t *restrict low, size_t stride) {
  for (; rows > 0; rows--, sums += apart, low += stride)
    for (size_t j = 0; j < cols; j++)
      low[j] += (uint64_t)(int64_t)sums[j] << shift;
}

/* high += the upper 64 bits of 2^shift sum, extended by its sign, and the carry of the lower
 * ones. */
static void add_wide(size_t rows, size_t cols, const int32_t *sums, size_t apart, unsigned shift,
                     uint64_t *restrict low, uint64_t *restrict high, size_t stride) {
  const unsigned right = shift > 0 ? 64 - shift : 63;
  for (; rows > 0; rows--, sums += apart, low += stride, high += stride)
    for (size_t j = 0; j < cols; j++) {
      const int64_t sum = sums[j];
      const uint64_t before = low[j], after = before + ((uint64_t)sum << shift);
      low[j] = after;
      high[j] += (uint64_t)(sum >> right) + (after < before);
    }
}

const scl_whole_loops ISA_NAME(scl_whole_loops) = {KERNELS,
                                                   ISA_NAME(scl_whole_round_f32_i8),
                                                   ISA_NAME(scl_whole_round_f32_i16),
                                                   ISA_NAME(scl_whole_round_f64_i8),
                                                   ISA_NAME(scl_whole_round_f64_i16),
                                                   add,
                                                   add_wide,
                                                   ISA_NAME(scl_whole_widen_i8),
                                                   ISA_NAME(scl_whole_widen_i16),
                                                   ISA_NAME(scl_whole_adjoint_i8),
                                                   ISA_NAME(scl_whole_adjoint_i16)};
