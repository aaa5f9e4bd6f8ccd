/* The inner loops of base/loops.h, compiled once per instruction set (SCL_ISA,
 * base/vector_math.cmake). */
#include "base/isa/bits.h"
#include "base/isa/csr.h"
#include "base/isa/packed.h"
#include "base/isa/rows.h"
#include "base/isa/thin.h"
#include "base/isa/whole.h"

#include <math.h>
#include <string.h>

#if defined(SCL_ISA_avx512) || defined(SCL_ISA_avx2)
/* glibc's vector functions by their names in the vector ABI (e: 512 bits, d: 256 bits). */
#if defined(SCL_ISA_avx512)
enum { WIDTH_F64 = 8, WIDTH_F32 = 16 };
typedef __m512d vector_f64;
typedef __m512 vector_f32;
#define LOAD_F64 _mm512_loadu_pd
#define LOAD_F32 _mm512_loadu_ps
#define STORE_F64 _mm512_storeu_pd
#define STORE_F32 _mm512_storeu_ps
#define VECTOR_F64(name) ISA_JOIN(_ZGVeN8v_, name)
#define VECTOR_F32(name) ISA_JOIN(_ZGVeN16v_, name)
#else
enum { WIDTH_F64 = 4, WIDTH_F32 = 8 };
typedef __m256d vector_f64;
typedef __m256 vector_f32;
#define LOAD_F64 _mm256_loadu_pd
#define LOAD_F32 _mm256_loadu_ps
#define STORE_F64 _mm256_storeu_pd
#define STORE_F32 _mm256_storeu_ps
#define VECTOR_F64(name) ISA_JOIN(_ZGVdN4v_, name)
#define VECTOR_F32(name) ISA_JOIN(_ZGVdN8v_, name)
#endif

/* The tail is computed by the same vector function, so that a result does not depend on its
 * place. */
#define OVER_ARRAY(name, type, vector, WIDTH, LOAD, STORE, function) \
  vector function(vector); \
  static void array_##name(size_t count, const type *x, type *out) { \
    size_t i = 0; \
    for (; i + WIDTH <= count; i += WIDTH) \
      STORE(out + i, function(LOAD(x + i))); \
    if (i == count) return; \
    type rest[WIDTH] = {0}; \
    for (size_t k = i; k < count; k++) \
      rest[k - i] = x[k]; \
    STORE(rest, function(LOAD(rest))); \
    for (size_t k = i; k < count; k++) \
      out[k] = rest[k - i]; \
  }
#define OVER_F64(name) \
  OVER_ARRAY(name, double, vector_f64, WIDTH_F64, LOAD_F64, STORE_F64, VECTOR_F64(name))
#define OVER_F32(name) \
  OVER_ARRAY(name, float, vector_f32, WIDTH_F32, LOAD_F32, STORE_F32, VECTOR_F32(name))
#else
#define OVER_F64(name) \
  static void array_##name(size_t count, const double *x, double *out) { \
    for (size_t i = 0; i < count; i++) \
      out[i] = name(x[i]); \
  }
#define OVER_F32(name) \
  static void array_##name(size_t count, const float *x, float *out) { \
    for (size_t i = 0; i < count; i++) \
      out[i] = name(x[i]); \
  }
#endif

OVER_F64(sin)
OVER_F64(cos)
OVER_F64(exp)
OVER_F64(erf)
OVER_F64(tanh)
OVER_F64(log)
OVER_F32(sinf)
OVER_F32(cosf)
OVER_F32(expf)
OVER_F32(erff)
OVER_F32(tanhf)
OVER_F32(logf)

/* Numbers that are gathered into registers before they are stored: loads after a store to an
 * unknown address would have to wait for it. */
enum { GATHERED = 8 };

#define GATHER(suffix, type) \
  static void gather_##suffix(size_t count, const type *x, const int32_t *column, \
                              const type *threshold, type *out) { \
    size_t i = 0; \
    for (; i + GATHERED <= count; i += GATHERED) { \
      type z[GATHERED]; \
      for (size_t k = 0; k < GATHERED; k++) \
        z[k] = x[column[i + k]] - threshold[i + k]; \
      for (size_t k = 0; k < GATHERED; k++) \
        out[i + k] = z[k]; \
    } \
    for (; i < count; i++) \
      out[i] = x[column[i]] - threshold[i]; \
  } \
  static void gather_sum_##suffix(size_t count, size_t slots, size_t stride, const type *x, \
                                  const int32_t *column, const type *weight, type *out) { \
    size_t i = 0; \
    for (; i + GATHERED <= count; i += GATHERED) { \
      type z[GATHERED] = {0}; \
      for (size_t s = 0; s < slots; s++) \
        for (size_t k = 0; k < GATHERED; k++) \
          z[k] += x[column[s * stride + i + k]] * weight[s * stride + i + k]; \
      for (size_t k = 0; k < GATHERED; k++) \
        out[i + k] = z[k]; \
    } \
    for (; i < count; i++) { \
      type z = 0; \
      for (size_t s = 0; s < slots; s++) \
        z += x[column[s * stride + i]] * weight[s * stride + i]; \
      out[i] = z; \
    } \
  } \
  static void plus_##suffix(size_t count, const type *shift, type *x) { \
    for (size_t i = 0; i < count; i++) \
      x[i] += shift[i]; \
  }
GATHER(f64, double)
GATHER(f32, float)

/* Four vectors of sums stay in registers; the lanes of one group are done before the next. */
#define LANES_SUM(suffix, type) \
  typedef type lanes_##suffix \
      __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(type)), may_alias)); \
  static void lanes_sum_##suffix(size_t slots, const type *x, const int32_t *column, \
                                 const type *weight, type *out) { \
    for (size_t l = 0; l < SCL_LANES; l += 4 * VECTOR_BYTES / sizeof(type)) { \
      lanes_##suffix a = {0}, b = {0}, c = {0}, d = {0}; \
      for (size_t k = 0; k < slots; k++) { \
        const lanes_##suffix *from = \
            (const lanes_##suffix *)(x + (size_t)column[k] * SCL_LANES + l); \
        const type w = weight[k]; \
        a += from[0] * w; \
        b += from[1] * w; \
        c += from[2] * w; \
        d += from[3] * w; \
      } \
      lanes_##suffix *to = (lanes_##suffix *)(out + l); \
      to[0] = a; \
      to[1] = b; \
      to[2] = c; \
      to[3] = d; \
    } \
  }
LANES_SUM(f64, double)
LANES_SUM(f32, float)

/* 0 * x is NaN where x is not finite, and so is the sum. Partial sums let the compiler vectorise
 * without permission to reorder additions. */
enum { LANES_F64 = 8, LANES_F32 = 16 };
#define SCALE(suffix, type, LANES) \
  static int scale_##suffix(size_t count, const type *factor, const type *x, type *out) { \
    type part[LANES] = {0}, sum = 0; \
    size_t i = 0; \
    for (; i + LANES <= count; i += LANES) \
      for (size_t k = 0; k < LANES; k++) { \
        out[i + k] = x[i + k] * factor[i + k]; \
        part[k] += 0 * out[i + k]; \
      } \
    for (; i < count; i++) { \
      out[i] = x[i] * factor[i]; \
      sum += 0 * out[i]; \
    } \
    for (size_t k = 0; k < LANES; k++) \
      sum += part[k]; \
    return sum == 0; \
  }
SCALE(f64, double, LANES_F64)
SCALE(f32, float, LANES_F32)

/* out[i] = floor((x - shift[i]) / pitch[i]), limited to what an int32_t holds. NaN becomes the
 * upper limit. */
static void cell_f64(size_t count, double x, const double *shift, const double *pitch,
                     double *restrict out) {
  const double most = 2147483647;
  for (size_t i = 0; i < count; i++) {
    const double cell = floor((x - shift[i]) / pitch[i]), high = cell < most ? cell : most;
    out[i] = high > -most ? high : -most;
  }
}

static uint64_t hash_i32(size_t count, const int32_t *word, const uint32_t *odd) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += (uint64_t)((uint32_t)word[i] + 1u) * odd[i];
  return sum;
}

static void add_f32(size_t count, const float *x, double *sum) {
  for (size_t i = 0; i < count; i++)
    sum[i] += (double)x[i];
}

/* A number rounded to a whole number, halves to even; anything where |x| >= 2^62 or x is NaN. Without
 * an instruction that converts 64 bits, x is split so that the loop is vectorised, x = 2^26 a + b
 * with a whole and |b| <= 2^25: adding 1.5 2^52 to a number below 2^51 rounds it, and leaves it in
 * the low bits of the sum. */
#if defined(__AVX512DQ__)
static inline int64_t round_number(double x) {
  const double whole = __builtin_rint(fabs(x) < 0x1p62 ? x : 0); /* as lrint, no vectors */
  return (int64_t)whole;
}
#else
static inline int64_t round_part(double x, double *whole) {
  const double magic = 0x1.8p52, sum = x + magic;
  int64_t bits, zero;
  memcpy(&bits, &sum, sizeof bits);
  memcpy(&zero, &magic, sizeof zero);
  *whole = sum - magic;
  return (int64_t)((uint64_t)bits - (uint64_t)zero);
}

static inline int64_t round_number(double x) {
  double whole, rest;
  const int64_t high = round_part(x * 0x1p-26, &whole);
  const int64_t low = round_part(x - whole * 0x1p26, &rest);
  return (int64_t)(((uint64_t)high << 26) + (uint64_t)low);
}
#endif

/* |x| as bits, which have the order of the numbers; infinity and NaN are the largest. */
static inline int64_t size_of(double x) {
  const double size = fabs(x);
  int64_t bits;
  memcpy(&bits, &size, sizeof bits);
  return bits;
}

/* From the largest size_of: no |out[i]| is larger. */
static uint64_t bound_of(int64_t largest) {
  double size;
  memcpy(&size, &largest, sizeof size);
  return size < 0x1p61 ? (uint64_t)size + 1 : UINT64_MAX;
}

/* whole_SUFFIX: out[i] = x[i] row factor[i] rounded to a whole number. Returns a bound on their
 * sizes, UINT64_MAX if one is too large. */
#define WHOLE(suffix, type) \
  static uint64_t whole_##suffix(size_t count, const type *x, double row, const double *factor, \
                                 int64_t *out) { \
    int64_t largest = 0; \
    for (size_t i = 0; i < count; i++) { \
      const double number = (double)x[i] * row * factor[i]; \
      const int64_t size = size_of(number); \
      out[i] = round_number(number); \
      largest = size > largest ? size : largest; \
    } \
    return bound_of(largest); \
  }
WHOLE(f64, double)
WHOLE(f32, float)

/* The product mean sum[i] in two parts, of which fma gives the second one exactly. */
static void centre_f64(size_t count, const double *low, double mean, double rest, const double *sum,
                       const double *sum_rest, double *x) {
  for (size_t i = 0; i < count; i++) {
    const double product = mean * sum[i], less = fma(mean, sum[i], -product) + rest * sum[i] +
                                                 (sum_rest == NULL ? 0 : mean * sum_rest[i]);
    x[i] = (x[i] - product) + (low[i] - less);
  }
}

/* 1 for a number with an exponent of ones alone, else 0. */
static inline uint64_t is_not_finite(double x) {
  const uint64_t ones = (uint64_t)0x7ff << 52;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (bits & ones) == ones;
}

static int affine_f64(size_t count, const double *x, const double *shift, const double *factor,
                      double *out) {
  uint64_t found = 0;
  for (size_t i = 0; i < count; i++) {
    out[i] = (x[i] - shift[i]) * factor[i];
    found |= is_not_finite(out[i]);
  }
  return found == 0;
}

/* Eight partial sums in a fixed order: the same result on every instruction set. */
static double square_f64(size_t count, const double *factor, const double *x) {
  double part[8] = {0};
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t k = 0; k < 8; k++) {
      const double v = factor[i + k] * x[i + k];
      part[k] += v * v;
    }
  for (; i < count; i++) {
    const double v = factor[i] * x[i];
    part[i % 8] += v * v;
  }
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/* out_ij = sum_k |u_ik - v_jk| for the rows v_j of one panel (dim x SCL_PANEL, transposed), each
 * sum in the order of k. */
static void absolute_panel_f64(size_t rows, size_t dim, const double *u, ptrdiff_t u_stride,
                               const double *restrict panel, size_t count, double *restrict out,
                               ptrdiff_t stride) {
  for (size_t i = 0; i < rows; i++) {
    const double *x = u + (ptrdiff_t)i * u_stride;
    double sums[SCL_PANEL] = {0};
    for (size_t k = 0; k < dim; k++)
      for (size_t j = 0; j < SCL_PANEL; j++)
        sums[j] += fabs(x[k] - panel[k * SCL_PANEL + j]);
    memcpy(out + (ptrdiff_t)i * stride, sums, count * sizeof *sums);
  }
}

/* Whether all numbers are finite. */
static int finite_f64(size_t count, const double *x) {
  uint64_t found = 0;
  for (size_t i = 0; i < count; i++)
    found |= is_not_finite(x[i]);
  return found == 0;
}

/* Carries change the high halves of few numbers: only runs that have some read them. */
static void add_wide_i64(size_t count, const int64_t *restrict x, int64_t *restrict low,
                         int64_t *restrict high) {
  enum { RUN = 64 };
  for (size_t first = 0; first < count; first += RUN) {
    const size_t end = first + RUN < count ? first + RUN : count;
    uint64_t change[RUN], any = 0;
    for (size_t i = first; i < end; i++) {
      const uint64_t number = (uint64_t)x[i], sum = (uint64_t)low[i] + number;
      any |= change[i - first] = (0 - (number >> 63)) + (sum < number);
      low[i] = (int64_t)sum;
    }
    for (size_t i = first; any != 0 && i < end; i++)
      high[i] = (int64_t)((uint64_t)high[i] + change[i - first]);
  }
}

typedef double eight_f64 __attribute__((vector_size(64), aligned(sizeof(double)), may_alias));

static void eight_product_f64(size_t rows, size_t cols, const double *phi, ptrdiff_t stride,
                              const double *a, double *out) {
  for (size_t i = 0; i < rows; i++, phi += stride) {
    eight_f64 sum = {0};
    for (size_t k = 0; k < cols; k++)
      sum += phi[k] * *(const eight_f64 *)(a + 8 * k);
    *(eight_f64 *)(out + 8 * i) = sum;
  }
}

static void eight_look_up_f64(size_t count, const uint32_t *place, const double *table,
                              size_t stride, double *sum) {
  eight_f64 total = *(const eight_f64 *)sum;
  for (size_t i = 0; i < count; i++)
    total += *(const eight_f64 *)(table + place[i] * stride);
  *(eight_f64 *)sum = total;
}

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#if defined(SCL_ISA_avx512) || defined(SCL_ISA_avx2)
#define PACKED_F64 ISA_NAME(scl_packed_product_f64)
#define PACKED_F32 ISA_NAME(scl_packed_product_f32)
#else
#define PACKED_F64 NULL
#define PACKED_F32 NULL
#endif
extern const scl_loops ISA_NAME(scl_loops);
const scl_loops ISA_NAME(scl_loops) = {TEXT(SCL_ISA),
                                       {SCL_HEAD(scl_vector_math), array_sin, array_cos, array_exp,
                                        array_erf, array_tanh, array_log, array_sinf, array_cosf,
                                        array_expf, array_erff, array_tanhf, array_logf},
                                       gather_f64,
                                       gather_f32,
                                       gather_sum_f64,
                                       gather_sum_f32,
                                       lanes_sum_f64,
                                       lanes_sum_f32,
                                       plus_f64,
                                       plus_f32,
                                       scale_f64,
                                       scale_f32,
                                       cell_f64,
                                       hash_i32,
                                       add_f32,
                                       whole_f64,
                                       whole_f32,
                                       centre_f64,
                                       affine_f64,
                                       square_f64,
                                       absolute_panel_f64,
                                       finite_f64,
                                       add_wide_i64,
                                       eight_product_f64,
                                       eight_look_up_f64,
                                       ISA_NAME(scl_thin_product_f64),
                                       ISA_NAME(scl_thin_product_f32),
                                       ISA_NAME(scl_thin_adjoint_f64),
                                       ISA_NAME(scl_thin_adjoint_f32),
                                       ISA_NAME(scl_signs_f64),
                                       ISA_NAME(scl_signs_f32),
                                       ISA_NAME(scl_above_f64),
                                       ISA_NAME(scl_above_f32),
                                       ISA_NAME(scl_spread_f64),
                                       ISA_NAME(scl_spread_f32),
                                       ISA_PACKED_BYTES,
                                       PACKED_F64,
                                       PACKED_F32,
                                       ISA_STRIP_BYTES,
                                       ISA_NAME(scl_row_product_f64),
                                       ISA_NAME(scl_row_product_f32),
                                       ISA_NAME(scl_csr_product_f64),
                                       ISA_NAME(scl_csr_product_f32),
                                       ISA_NAME(scl_row_solve_f64),
                                       &ISA_NAME(scl_whole_loops)};
