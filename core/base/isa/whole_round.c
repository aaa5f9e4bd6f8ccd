/* Whole-number features from floating-point ones, compiled once per instruction set (SCL_ISA).
 * Every operation is rounded by itself (-ffp-contract=off), so all sets give the same numbers. */
#include "base/isa/whole.h"

#include <string.h>

enum { BLOCK = 64 };

/* The lesser and the greater of each pair; of NaN and b, b. */
#if defined(SCL_ISA_avx512)
#define LEAST_f32 _mm512_min_ps
#define MOST_f32 _mm512_max_ps
#define LEAST_f64 _mm512_min_pd
#define MOST_f64 _mm512_max_pd
#elif defined(SCL_ISA_avx2)
#define LEAST_f32 _mm256_min_ps
#define MOST_f32 _mm256_max_ps
#define LEAST_f64 _mm256_min_pd
#define MOST_f64 _mm256_max_pd
#else
#define LEAST_f32(a, b) select_f32(a < b, a, b)
#define MOST_f32(a, b) select_f32(a > b, a, b)
#define LEAST_f64(a, b) select_f64(a < b, a, b)
#define MOST_f64(a, b) select_f64(a > b, a, b)
#define SELECTED
#endif

#ifdef SELECTED
#define SELECT(suffix) \
  static inline vector_##suffix select_##suffix(mask_##suffix which, vector_##suffix a, \
                                                vector_##suffix b) { \
    return (vector_##suffix)((which & (mask_##suffix)a) | (~which & (mask_##suffix)b)); \
  }
#else
#define SELECT(suffix)
#endif

/* z is first clipped to the largest v. Then z + magic has no bits behind the point: the sum is
 * rounded to the nearest whole number, halves to even. A comparison is -1 where it holds. */
#define ROUNDING(suffix, type, word, magic) \
  typedef type vector_##suffix __attribute__((vector_size(VECTOR_BYTES), may_alias)); \
  typedef type loose_##suffix \
      __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(type)), may_alias)); \
  typedef word mask_##suffix __attribute__((vector_size(VECTOR_BYTES), may_alias)); \
  SELECT(suffix) \
\
  /* BLOCK numbers; *beyond -= the clipped ones, *infinite = -1 where a y is not finite. */ \
  static inline void block_##suffix(type most, const type *y, const type *offset, \
                                    const type *inverse, type *out, mask_##suffix *beyond, \
                                    mask_##suffix *infinite) { \
    const vector_##suffix zero = {0}, high = zero + most, half = high + (type)0.5; \
    for (size_t j = 0; j < BLOCK; j += VECTOR_BYTES / sizeof(type)) { \
      const vector_##suffix x = *(const loose_##suffix *)(y + j), \
                            shift = offset == NULL ? zero \
                                                   : (vector_##suffix) * \
                                                         (const loose_##suffix *)(offset + j), \
                            z = (x - shift) * *(const loose_##suffix *)(inverse + j), \
                            most_z = LEAST_##suffix(z, high), near = MOST_##suffix(most_z, -high); \
      *beyond += (z > half) + (z < -half); \
      *infinite |= x - x != zero; \
      *(loose_##suffix *)(out + j) = (near + (type)magic) - (type)magic; \
    } \
  }
ROUNDING(f32, float, int32_t, 0x1.8p23f)
ROUNDING(f64, double, int64_t, 0x1.8p52)

#define NARROW(suffix, number, type, whole, most) \
  static inline void narrow_##suffix##_##number(size_t count, const type *x, whole *v) { \
    for (size_t j = 0; j < count; j++) \
      v[j] = (whole)(int32_t)x[j]; \
  } \
\
  int ISA_NAME(scl_whole_round_##suffix##_##number)(size_t count, const void *from, \
                                                    const void *offsets, const void *inverses, \
                                                    void *to, size_t *clipped) { \
    const type *y = from, *offset = offsets, *inverse = inverses; \
    whole *v = to; \
    mask_##suffix beyond = {0}, infinite = {0}; \
    type rounded[BLOCK]; \
    size_t j = 0; \
    for (; j + BLOCK <= count; j += BLOCK) { \
      block_##suffix(most, y + j, offset == NULL ? NULL : offset + j, inverse + j, rounded, \
                     &beyond, &infinite); \
      narrow_##suffix##_##number(BLOCK, rounded, v + j); \
    } \
    if (j < count) { \
      type rest[3][BLOCK] = {{0}}; \
      const size_t bytes = (count - j) * sizeof(type); \
      memcpy(rest[0], y + j, bytes); \
      if (offset != NULL) memcpy(rest[1], offset + j, bytes); \
      memcpy(rest[2], inverse + j, bytes); \
      block_##suffix(most, rest[0], rest[1], rest[2], rounded, &beyond, &infinite); \
      narrow_##suffix##_##number(count - j, rounded, v + j); \
    } \
    int bad = 0; \
    for (size_t l = 0; l < VECTOR_BYTES / sizeof(type); l++) { \
      *clipped += (size_t)-beyond[l]; \
      bad |= infinite[l] != 0; \
    } \
    return !bad; \
  }
NARROW(f32, i8, float, int8_t, 127)
NARROW(f32, i16, float, int16_t, 2047)
NARROW(f64, i8, double, int8_t, 127)
NARROW(f64, i16, double, int16_t, 2047)
