/* Products of rows with packed columns, and triangular solves of rows, compiled once per
 * instruction set (SCL_ISA):
 *
 *   C = A B,   A rows x terms,   B terms x cols, packed in strips of VECTORS vectors of columns
 *
 * Each number of C is the sum over chunks of SCL_ROW_CHUNK bytes of terms, in ascending order, of
 *
 *   a_0 b_0 + a_1 b_1 + ...   in ascending order, from 0, fused where the set can do so.
 *
 * It depends on its row of A and its column of B alone: rows and columns beside it decide which
 * tile computes it, but not how. The sets that fuse give the same bits. A tile of C is at most ROWS
 * rows times one strip; its sums stay in registers, and a chunk of the strip in the first cache. */
#include "base/isa/rows.h"

#if defined(SCL_ISA_avx512)
enum { BYTES = 64, ROWS = 8 }; /* 32 registers */
#elif defined(SCL_ISA_avx2)
enum { BYTES = 32, ROWS = 4 }; /* 16 */
#else
enum { BYTES = 16, ROWS = 4 };
#endif
/* BLOCK rows of A and of C fit into the second-level cache. */
enum { VECTORS = ISA_STRIP_BYTES / BYTES, BLOCK = 64, NARROW = 16 };
/* Strips that are multiplied together by a row alone, whose sums would wait for each other. */
enum { STRIPS = 4 };

#define INLINE static inline __attribute__((always_inline))

INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Rows of the next tile where `left` remain: ROWS, or the largest power of two. */
INLINE size_t tile_rows(size_t left) {
  size_t rows = ROWS;
  while (rows > left)
    rows /= 2;
  return rows;
}

/* Loops of known lengths, so that sums stay in registers. */
#define UNROLLED _Pragma("GCC unroll 12")

/* One instance of the tile for each size, as constants for the compiler. */
#define CASE(suffix, tall, wide) \
  case tall *VECTORS + wide - 1: \
    tile_##suffix(tall, wide, terms, left, apart, right, add, out, stride); \
    break;
#define CASES(suffix, tall) CASE(suffix, tall, 1) CASE(suffix, tall, 2) CASE(suffix, tall, 3)
#define COLUMN(suffix, tall) \
  case tall: \
    column_##suffix(tall, from, terms, left, apart, right, add, out, stride); \
    break;
#if defined(SCL_ISA_avx512)
#define CASES_OF_EIGHT(suffix) CASES(suffix, 8)
#define COLUMN_OF_EIGHT(suffix) COLUMN(suffix, 8)
#else
#define CASES_OF_EIGHT(suffix)
#define COLUMN_OF_EIGHT(suffix)
#endif

#define PRODUCT(suffix, type) \
  typedef type vector_##suffix \
      __attribute__((vector_size(BYTES), aligned(sizeof(type)), may_alias)); \
  typedef type narrow_##suffix \
      __attribute__((vector_size(NARROW), aligned(sizeof(type)), may_alias)); \
  enum { \
    LANES_##suffix = BYTES / sizeof(type), \
    WIDTH_##suffix = VECTORS * LANES_##suffix, \
    CHUNK_##suffix = SCL_ROW_CHUNK / sizeof(type) \
  }; \
\
  /* `tall` rows times `wide` vectors of one strip, at most CHUNK. */ \
  INLINE void tile_##suffix(const size_t tall, const size_t wide, size_t terms, const type *left, \
                            ptrdiff_t apart, const type *right, bool add, type *out, \
                            ptrdiff_t stride) { \
    vector_##suffix sum[ROWS][VECTORS]; \
    UNROLLED for (size_t i = 0; i < tall; i++) UNROLLED for (size_t v = 0; v < wide; v++) { \
      sum[i][v] = (vector_##suffix){0}; \
      __builtin_prefetch(out + (ptrdiff_t)i * stride + v * LANES_##suffix, 1); \
    } \
    for (size_t k = 0; k < terms; k++, right += WIDTH_##suffix) { \
      vector_##suffix b[VECTORS]; \
      UNROLLED for (size_t v = 0; v < wide; v++) b[v] = \
          *(const vector_##suffix *)(right + v * LANES_##suffix); \
      UNROLLED for (size_t i = 0; i < tall; i++) { \
        const vector_##suffix a = \
            left[(ptrdiff_t)i * apart + (ptrdiff_t)k] - (vector_##suffix){0}; \
        UNROLLED for (size_t v = 0; v < wide; v++) sum[i][v] += a * b[v]; \
      } \
    } \
    UNROLLED for (size_t i = 0; i < tall; i++) UNROLLED for (size_t v = 0; v < wide; v++) { \
      vector_##suffix *to = (vector_##suffix *)(out + (ptrdiff_t)i * stride + v * LANES_##suffix); \
      if (add) sum[i][v] += *to; \
      *to = sum[i][v]; \
    } \
  } \
\
  static void tiles_##suffix(size_t tall, size_t wide, size_t terms, const type *left, \
                             ptrdiff_t apart, const type *right, bool add, type *out, \
                             ptrdiff_t stride) { \
    switch (tall * VECTORS + wide - 1) { \
      CASES(suffix, 1) \
      CASES(suffix, 2) \
      CASES(suffix, 4) \
      CASES_OF_EIGHT(suffix) \
    } \
  } \
\
  /* `tall` rows times one column of the strip: as a tile, in registers of NARROW bytes, because two \
   * of those are multiplied at a time. */ \
  INLINE void column_##suffix(const size_t tall, size_t from, size_t terms, const type *left, \
                              ptrdiff_t apart, const type *right, bool add, type *out, \
                              ptrdiff_t stride) { \
    narrow_##suffix sum[ROWS] = {{0}}; \
    const size_t lane = from % (NARROW / sizeof(type)); \
    right += from - lane; \
    for (size_t k = 0; k < terms; k++, right += WIDTH_##suffix) { \
      const narrow_##suffix b = *(const narrow_##suffix *)right; \
      UNROLLED for (size_t i = 0; i < tall; i++) sum[i] += \
          (left[(ptrdiff_t)i * apart + (ptrdiff_t)k] - (narrow_##suffix){0}) * b; \
    } \
    UNROLLED for (size_t i = 0; i < tall; i++) { \
      type *number = out + (ptrdiff_t)i * stride; \
      *number = add ? *number + sum[i][lane] : sum[i][lane]; \
    } \
  } \
\
  static void columns_##suffix(size_t tall, size_t from, size_t terms, const type *left, \
                               ptrdiff_t apart, const type *right, bool add, type *out, \
                               ptrdiff_t stride) { \
    switch (tall) { \
      COLUMN(suffix, 1) \
      COLUMN(suffix, 2) \
      COLUMN(suffix, 4) \
      COLUMN_OF_EIGHT(suffix) \
    } \
  } \
\
  /* One row times STRIPS whole strips, `strip` numbers apart, at most CHUNK. */ \
  static void row_##suffix(size_t terms, const type *left, const type *right, size_t strip, \
                           bool add, type *out) { \
    vector_##suffix sum[STRIPS * VECTORS] = {{0}}, *to = (vector_##suffix *)out; \
    for (size_t k = 0; k < terms; k++, right += WIDTH_##suffix) \
      UNROLLED for (size_t s = 0; s < STRIPS; s++) UNROLLED for (size_t v = 0; v < VECTORS; v++) \
          sum[s * VECTORS + v] += \
          (left[k] - (vector_##suffix){0}) * ((const vector_##suffix *)(right + s * strip))[v]; \
    UNROLLED for (size_t v = 0; v < STRIPS * VECTORS; v++) { \
      if (add) sum[v] += to[v]; \
      to[v] = sum[v]; \
    } \
  } \
\
  /* A tile of which columns from .. to-1 of the strip are wanted, at `out`. */ \
  static void edge_##suffix(size_t tall, size_t from, size_t to, size_t terms, const type *left, \
                            ptrdiff_t apart, const type *right, bool add, type *out, \
                            ptrdiff_t stride) { \
    type part[ROWS * WIDTH_##suffix]; \
    tiles_##suffix(tall, (to + LANES_##suffix - 1) / LANES_##suffix, terms, left, apart, right, \
                   false, part, WIDTH_##suffix); \
    for (size_t i = 0; i < tall; i++) \
      for (size_t j = from; j < to; j++) { \
        type *number = out + (ptrdiff_t)i * stride + (ptrdiff_t)(j - from); \
        *number = add ? *number + part[i * WIDTH_##suffix + j] : part[i * WIDTH_##suffix + j]; \
      } \
  } \
\
  /* Columns from .. to-1 of one strip, at most CHUNK. */ \
  static void strip_##suffix(size_t rows, size_t from, size_t to, size_t terms, const type *left, \
                             ptrdiff_t apart, const type *right, bool add, type *out, \
                             ptrdiff_t stride) { \
    for (size_t i = 0, tall; i < rows; \
         i += tall, left += (ptrdiff_t)tall * apart, out += (ptrdiff_t)tall * stride) { \
      tall = tile_rows(rows - i); \
      if (to - from == 1) \
        columns_##suffix(tall, from, terms, left, apart, right, add, out, stride); \
      else if (from == 0 && to % LANES_##suffix == 0) \
        tiles_##suffix(tall, to / LANES_##suffix, terms, left, apart, right, add, out, stride); \
      else \
        edge_##suffix(tall, from, to, terms, left, apart, right, add, out, stride); \
    } \
  } \
\
  void ISA_NAME(scl_row_product_##suffix)(size_t terms, size_t rows, size_t first, size_t cols, \
                                          const type *left, ptrdiff_t apart, const type *right, \
                                          bool add, type *out, ptrdiff_t stride) { \
    const size_t begin = first / WIDTH_##suffix * WIDTH_##suffix, end = first + cols; \
    for (size_t i = 0; i < rows; i += BLOCK) { \
      const type *block = left + (ptrdiff_t)i * apart; \
      type *to = out + (ptrdiff_t)i * stride; \
      for (size_t k = 0; k == 0 || k < terms; k += CHUNK_##suffix) \
        for (size_t j = begin; j < end; j += WIDTH_##suffix) { \
          const size_t from = j < first ? first - j : 0; \
          if (rows - i == 1 && from == 0 && end - j >= STRIPS * WIDTH_##suffix) { \
            row_##suffix(least(CHUNK_##suffix, terms - k), block + k, \
                         right + j * terms + k * WIDTH_##suffix, terms * WIDTH_##suffix, \
                         add || k > 0, to + (j - first)); \
            j += (STRIPS - 1) * WIDTH_##suffix; \
            continue; \
          } \
          strip_##suffix(least(BLOCK, rows - i), from, least(WIDTH_##suffix, end - j), \
                         least(CHUNK_##suffix, terms - k), block + k, apart, \
                         right + j * terms + k * WIDTH_##suffix, add || k > 0, \
                         to + (j + from - first), stride); \
        } \
    } \
  }

PRODUCT(f64, double)
PRODUCT(f32, float)

/* ------------ triangular solves
 *
 * SOLVED rows are transposed into the lanes of vectors, so that each row has the same order of
 * operations, whatever its place. */

enum { SOLVED_VECTORS = 4, SOLVED = SOLVED_VECTORS * LANES_f64 };

/* x_j = (x_j - sum over i < j of l_ji x_i) / l_jj; x: count x SOLVED. */
static void solve_lanes(size_t count, const double *l, ptrdiff_t apart, double *x) {
  for (size_t j = 0; j < count; j++) {
    vector_f64 *own = (vector_f64 *)(x + j * SOLVED), sum[SOLVED_VECTORS];
    for (size_t v = 0; v < SOLVED_VECTORS; v++)
      sum[v] = own[v];
    for (size_t i = 0; i < j; i++) {
      const vector_f64 factor = l[(ptrdiff_t)j * apart + (ptrdiff_t)i] - (vector_f64){0};
      for (size_t v = 0; v < SOLVED_VECTORS; v++)
        sum[v] -= ((const vector_f64 *)(x + i * SOLVED))[v] * factor;
    }
    for (size_t v = 0; v < SOLVED_VECTORS; v++)
      own[v] = sum[v] / l[(ptrdiff_t)j * apart + (ptrdiff_t)j];
  }
}

void ISA_NAME(scl_row_solve_f64)(size_t rows, size_t count, const double *l, ptrdiff_t apart,
                                 double *x, ptrdiff_t stride) {
  double lanes[SCL_ROW_SOLVE * SOLVED] = {0};
  for (size_t first = 0; first < rows; first += SOLVED) {
    const size_t some = least(SOLVED, rows - first);
    double *row = x + (ptrdiff_t)first * stride;
    for (size_t i = 0; i < some; i++)
      for (size_t j = 0; j < count; j++)
        lanes[j * SOLVED + i] = row[(ptrdiff_t)i * stride + (ptrdiff_t)j];
    solve_lanes(count, l, apart, lanes);
    for (size_t i = 0; i < some; i++)
      for (size_t j = 0; j < count; j++)
        row[(ptrdiff_t)i * stride + (ptrdiff_t)j] = lanes[j * SOLVED + i];
  }
}
