/* Thin products, compiled once per instruction set (SCL_ISA): Phi a and Phi' r for few columns of a
 * and r.
 *
 * Vectors have the width of the machine and run along the features. A tile is PANEL vectors (of
 * PANEL rows in a product, adjacent ones in an adjoint) times at most COLUMNS columns; its sums
 * stay in registers, beside the numbers of the columns and one vector of features: PANEL * COLUMNS
 * + COLUMNS + 1 registers. Multiplication and addition are fused where the machine can do so, hence
 * the sets agree within rounding. The order in which a result is summed depends neither on the rows
 * nor on the columns beside it. */
#include "base/isa/thin.h"

#include <stdbool.h>
#include <string.h>

#if defined(SCL_ISA_avx512)
enum { BYTES = 64, PANEL = 4 }; /* 32 registers */
#elif defined(SCL_ISA_avx2)
enum { BYTES = 32, PANEL = 2 }; /* 16 */
#else
enum { BYTES = 16, PANEL = 2 };
#endif
enum { COLUMNS = 5 };
/* ROWS: rows whose sums are computed together. STRETCH: features at a time, so that the columns of
 * a remain in the cache for all these rows. LONG features, or LONG_ROWS rows of an adjoint: after
 * as many, sums are added in float64. STRIP: features of an adjoint at a time. */
enum { ROWS = 16, STRETCH = 256, LONG = 32 * STRETCH, STRIP = 256, LONG_ROWS = 256 };

#define INLINE static inline __attribute__((always_inline))

INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* The number of columns of the next tile where `left` remain: tiles of about the same size. */
INLINE size_t tile_columns(size_t left) {
  const size_t tiles = (left + COLUMNS - 1) / COLUMNS;
  return (left + tiles - 1) / tiles;
}

/* One instance of the tile for each panel and number of columns, as constants for the compiler. */
#define CASE(suffix, panel, columns) \
  case (panel > 1 ? COLUMNS : 0) + columns:                                                        \
    tile_##suffix(panel, columns, numbers, count, x, from, to, k); \
    break;

#define TILES(suffix, type) \
  typedef type vector_##suffix \
      __attribute__((vector_size(BYTES), aligned(sizeof(type)), may_alias)); \
  enum { WIDTH_##suffix = BYTES / sizeof(type) }; \
\
  /* One side of the products: `apart` between neighbours in the tile, `step` between terms of a \
   * sum, `ahead` to the next piece, which the hardware does not prefetch by itself. */ \
  typedef struct side_##suffix { \
    const type *at; \
    ptrdiff_t apart, step, ahead; \
  } side_##suffix; \
\
  /* sums[p k + q] += x_p y_q, `count` terms; y_q a vector, or one number for a whole vector. */ \
  INLINE void tile_##suffix(const size_t panel, const size_t columns, const bool numbers, \
                            size_t count, side_##suffix x, side_##suffix y, vector_##suffix *sums, \
                            size_t k) { \
    vector_##suffix sum[PANEL][COLUMNS]; \
    for (size_t p = 0; p < panel; p++) \
      for (size_t q = 0; q < columns; q++) \
        sum[p][q] = sums[p * k + q]; \
    for (; count > 0; count--, x.at += x.step, y.at += y.step) { \
      vector_##suffix column[COLUMNS]; \
      for (size_t q = 0; q < columns; q++) { \
        const type *at = y.at + (ptrdiff_t)q * y.apart; \
        if (numbers) \
          column[q] = *at - (vector_##suffix){0}; \
        else \
          column[q] = *(const vector_##suffix *)at; \
      } \
      for (size_t p = 0; p < panel; p++) { \
        const type *at = x.at + (ptrdiff_t)p * x.apart; \
        const vector_##suffix features = *(const vector_##suffix *)at; \
        __builtin_prefetch(at + x.ahead, 0, 2); \
        for (size_t q = 0; q < columns; q++) \
          sum[p][q] += features * column[q]; \
      } \
    } \
    for (size_t p = 0; p < panel; p++) \
      for (size_t q = 0; q < columns; q++) \
        sums[p * k + q] = sum[p][q]; \
  } \
\
  /* The same for `panel` (PANEL or 1) and k columns. */ \
  INLINE void tiles_##suffix(size_t panel, size_t k, const bool numbers, size_t count, \
                             side_##suffix x, side_##suffix y, vector_##suffix *sums) { \
    for (size_t q = 0, columns; q < k; q += columns) { \
      const side_##suffix from = {y.at + (ptrdiff_t)q * y.apart, y.apart, y.step, 0}; \
      vector_##suffix *to = sums + q; \
      columns = tile_columns(k - q); \
      switch (panel == 1 ? columns : COLUMNS + columns) { \
        CASE(suffix, 1, 1) \
        CASE(suffix, 1, 2) \
        CASE(suffix, 1, 3) \
        CASE(suffix, 1, 4) \
        CASE(suffix, 1, 5) \
        CASE(suffix, PANEL, 1) \
        CASE(suffix, PANEL, 2) \
        CASE(suffix, PANEL, 3) \
        CASE(suffix, PANEL, 4) \
        CASE(suffix, PANEL, 5) \
      } \
    } \
  }

/* ------------ Phi a */

#define PRODUCT(suffix, type) \
  /* All numbers of a vector, halves to halves. */ \
  INLINE double total_##suffix(const vector_##suffix *sums) { \
    double part[WIDTH_##suffix]; \
    for (size_t l = 0; l < WIDTH_##suffix; l++) \
      part[l] = (double)(*sums)[l]; \
    for (size_t half = WIDTH_##suffix / 2; half > 0; half /= 2) \
      for (size_t l = 0; l < half; l++) \
        part[l] += part[l + half]; \
    return part[0]; \
  } \
\
  /* `count` vectors of features of `rows` rows */ \
  static void product_rows_##suffix(size_t rows, size_t k, size_t count, side_##suffix x, \
                                    side_##suffix y, vector_##suffix *sums) { \
    for (size_t i = 0, panel; i < rows; i += panel, x.at += (ptrdiff_t)panel * x.apart) { \
      panel = rows - i >= PANEL ? PANEL : 1; \
      tiles_##suffix(panel, k, false, count, x, y, sums + i * k); \
    } \
  } \
\
  /* What a whole vector leaves at the end of the rows, filled up with zeros. */ \
  static void copy_rest_##suffix(size_t rows, size_t rest, const type *x, ptrdiff_t apart, \
                                 type(*out)[WIDTH_##suffix]) { \
    memset(out, 0, rows * sizeof *out); \
    for (size_t i = 0; i < rows; i++) \
      memcpy(out[i], x + (ptrdiff_t)i * apart, rest * sizeof **out); \
  } \
\
  static void product_block_##suffix(size_t rows, size_t cols, size_t k, const type *phi, \
                                     ptrdiff_t stride, const type *a, ptrdiff_t apart, \
                                     type(*a_rest)[WIDTH_##suffix], double *out) { \
    const ptrdiff_t width = WIDTH_##suffix; \
    const size_t rest = cols % WIDTH_##suffix; \
    for (size_t from = 0; from < cols; from += LONG) { \
      const size_t to = least(from + LONG, cols - rest); \
      vector_##suffix sums[ROWS * SCL_THIN_COLUMNS]; \
      memset(sums, 0, rows *k * sizeof *sums); \
      for (size_t j = from; j < to; j += STRETCH) \
        product_rows_##suffix(rows, k, least(STRETCH, to - j) / WIDTH_##suffix, \
                              (side_##suffix){phi + j, stride, width, STRETCH}, \
                              (side_##suffix){a + j, apart, width, 0}, sums); \
      if (rest > 0 && cols - from <= LONG) { \
        type phi_rest[ROWS][WIDTH_##suffix]; \
        copy_rest_##suffix(rows, rest, phi + (cols - rest), stride, phi_rest); \
        product_rows_##suffix(rows, k, 1, (side_##suffix){*phi_rest, width, width, 0}, \
                              (side_##suffix){*a_rest, width, width, 0}, sums); \
      } \
      for (size_t i = 0; i < rows; i++) \
        for (size_t q = 0; q < k; q++) \
          out[i * k + q] += total_##suffix(&sums[i * k + q]); \
    } \
  } \
\
  void ISA_NAME(scl_thin_product_##suffix)(size_t rows, size_t cols, size_t k, const type *phi, \
                                           ptrdiff_t stride, const type *a, ptrdiff_t apart, \
                                           double *out) { \
    type a_rest[SCL_THIN_COLUMNS][WIDTH_##suffix]; \
    const size_t rest = cols % WIDTH_##suffix; \
    copy_rest_##suffix(k, rest, a + (cols - rest), apart, a_rest); \
    for (size_t i = 0; i < rows; i += ROWS) \
      product_block_##suffix(least(ROWS, rows - i), cols, k, phi + (ptrdiff_t)i * stride, stride, \
                             a, apart, a_rest, out + i * k); \
  }

/* ------------ Phi' r */

#define ADJOINT(suffix, type) \
  /* `wide` features of `rows` <= ROWS rows, at most PANEL vectors. */ \
  static void adjoint_panel_##suffix(size_t rows, size_t wide, size_t k, side_##suffix x, \
                                     side_##suffix y, vector_##suffix *sums) { \
    const size_t panel = wide > WIDTH_##suffix ? PANEL : 1, room = panel * WIDTH_##suffix; \
    type copy[ROWS * PANEL * WIDTH_##suffix]; \
    if (wide < room) { \
      memset(copy, 0, sizeof copy); \
      for (size_t i = 0; i < rows; i++) \
        memcpy(copy + i * room, x.at + (ptrdiff_t)i * x.step, wide * sizeof *copy); \
      x = (side_##suffix){copy, x.apart, (ptrdiff_t)room, 0}; \
    } \
    tiles_##suffix(panel, k, true, rows, x, y, sums); \
  } \
\
  INLINE void add_##suffix(size_t count, vector_##suffix sum, double *out) { \
    if (count == WIDTH_##suffix) \
      for (size_t l = 0; l < WIDTH_##suffix; l++) \
        out[l] += (double)sum[l]; \
    else \
      for (size_t l = 0; l < count; l++) \
        out[l] += (double)sum[l]; \
  } \
\
  /* `cols` <= STRIP features of `rows` <= LONG_ROWS rows. */ \
  static void adjoint_strip_##suffix(size_t rows, size_t cols, size_t k, const type *phi, \
                                     ptrdiff_t stride, const type *r, double *out, \
                                     ptrdiff_t apart) { \
    const size_t wide = PANEL * WIDTH_##suffix; \
    vector_##suffix sums[(STRIP / WIDTH_##suffix) * SCL_THIN_COLUMNS]; \
    memset(sums, 0, (cols + wide - 1) / wide * PANEL * k * sizeof *sums); \
    for (size_t i = 0; i < rows; i += ROWS) \
      for (size_t j = 0; j < cols; j += wide) \
        adjoint_panel_##suffix(least(ROWS, rows - i), least(wide, cols - j), k, \
                               (side_##suffix){phi + (ptrdiff_t)i * stride + j, WIDTH_##suffix, \
                                               stride, ROWS * stride}, \
                               (side_##suffix){r + i * k, 1, (ptrdiff_t)k, 0}, \
                               sums + j / WIDTH_##suffix * k); \
    for (size_t q = 0; q < k; q++, out += apart) \
      for (size_t j = 0; j < cols; j += WIDTH_##suffix) \
        add_##suffix(least(WIDTH_##suffix, cols - j), sums[j / WIDTH_##suffix * k + q], out + j); \
  } \
\
  void ISA_NAME(scl_thin_adjoint_##suffix)(size_t rows, size_t cols, size_t k, const type *phi, \
                                           ptrdiff_t stride, const type *r, double *out, \
                                           ptrdiff_t apart) { \
    for (size_t i = 0; i < rows; i += LONG_ROWS) \
      for (size_t j = 0; j < cols; j += STRIP) \
        adjoint_strip_##suffix(least(LONG_ROWS, rows - i), least(STRIP, cols - j), k, \
                               phi + (ptrdiff_t)i * stride + j, stride, r + i * k, out + j, \
                               apart); \
  }

TILES(f64, double)
TILES(f32, float)
PRODUCT(f64, double)
PRODUCT(f32, float)
ADJOINT(f64, double)
ADJOINT(f32, float)
