/* Products of packed matrices, compiled once per instruction set (SCL_ISA):
 *
 *   C += A'B,   A terms x rows, B terms x cols
 *
 * Both are packed in strips of VECTORS vectors of columns; the rows of a strip are adjacent. A tile
 * of C is ROWS columns of A times one strip of B. Its sums are in ROWS VECTORS registers, beside
 * VECTORS registers of B and one with a number of A in all lanes, over at most DEPTH rows, which
 * are so few that the strip of B remains in the first-level cache. Multiplication and addition are
 * fused. The order in which an entry is summed depends only on `terms`. */
#include "base/isa/packed.h"

#if defined(SCL_ISA_avx512) || defined(SCL_ISA_avx2)
#if defined(SCL_ISA_avx512)
enum { BYTES = 64, ROWS = 8, DEPTH = 128 }; /* 32 registers */
#else
enum { BYTES = 32, ROWS = 4, DEPTH = 256 }; /* 16 */
#endif
enum { VECTORS = ISA_PACKED_BYTES / BYTES };

#define INLINE static inline __attribute__((always_inline))

INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

#define PACKED(suffix, type) \
  typedef type vector_##suffix \
      __attribute__((vector_size(BYTES), aligned(sizeof(type)), may_alias)); \
  enum { LANES_##suffix = BYTES / sizeof(type), WIDTH_##suffix = VECTORS * LANES_##suffix }; \
\
  /* A whole tile, `vectors` wide. */ \
  INLINE void tile_##suffix(const size_t vectors, size_t terms, const type *left, \
                            const type *right, type *out, ptrdiff_t stride) { \
    vector_##suffix sum[ROWS][VECTORS] = {{{0}}}; \
    for (size_t i = 0; i < ROWS; i++) \
      for (size_t v = 0; v < vectors; v++) \
        __builtin_prefetch(out + (ptrdiff_t)i * stride + v * LANES_##suffix, 1); \
    for (; terms > 0; terms--, left += WIDTH_##suffix, right += WIDTH_##suffix) { \
      vector_##suffix b[VECTORS]; \
      for (size_t v = 0; v < vectors; v++) \
        b[v] = *(const vector_##suffix *)(right + v * LANES_##suffix); \
      for (size_t i = 0; i < ROWS; i++) { \
        const vector_##suffix a = left[i] - (vector_##suffix){0}; \
        for (size_t v = 0; v < vectors; v++) \
          sum[i][v] += a * b[v]; \
      } \
    } \
    for (size_t i = 0; i < ROWS; i++) \
      for (size_t v = 0; v < vectors; v++) \
        *(vector_##suffix *)(out + (ptrdiff_t)i * stride + v * LANES_##suffix) += sum[i][v]; \
  } \
\
  static void tiles_##suffix(size_t vectors, size_t terms, const type *left, const type *right, \
                             type *out, ptrdiff_t stride) { \
    if (vectors == 1) \
      tile_##suffix(1, terms, left, right, out, stride); \
    else if (vectors == 2) \
      tile_##suffix(2, terms, left, right, out, stride); \
    else \
      tile_##suffix(VECTORS, terms, left, right, out, stride); \
  } \
\
  /* A tile at the edge, of which `rows` x `cols` are there. */ \
  static void edge_##suffix(size_t terms, size_t rows, size_t cols, const type *left, \
                            const type *right, type *out, ptrdiff_t stride) { \
    type part[ROWS * WIDTH_##suffix] = {0}; \
    tiles_##suffix((cols + LANES_##suffix - 1) / LANES_##suffix, terms, left, right, part, \
                   WIDTH_##suffix); \
    for (size_t i = 0; i < rows; i++) \
      for (size_t j = 0; j < cols; j++) \
        out[(ptrdiff_t)i * stride + (ptrdiff_t)j] += part[i * WIDTH_##suffix + j]; \
  } \
\
  void ISA_NAME(scl_packed_product_##suffix)(size_t terms, size_t rows, size_t cols, \
                                             const type *left, const type *right, bool below, \
                                             type *out, ptrdiff_t stride) { \
    for (size_t k = 0; k < terms; k += DEPTH) \
      for (size_t j = 0; j < cols; j += WIDTH_##suffix) { \
        const type *b = right + j * terms + k * WIDTH_##suffix; \
        for (size_t i = below ? j : 0; i < rows; i += ROWS) { \
          const size_t tall = least(ROWS, rows - i), \
                       needed = below ? least(cols, i + tall) : cols, \
                       wide = least(WIDTH_##suffix, needed - j), \
                       whole = (wide + LANES_##suffix - 1) / LANES_##suffix; \
          const type *a = left + i / WIDTH_##suffix * WIDTH_##suffix * terms + \
                          k * WIDTH_##suffix + i % WIDTH_##suffix; \
          type *to = out + (ptrdiff_t)i * stride + (ptrdiff_t)j; \
          if (tall == ROWS && j + whole * LANES_##suffix <= cols) \
            tiles_##suffix(whole, least(DEPTH, terms - k), a, b, to, stride); \
          else \
            edge_##suffix(least(DEPTH, terms - k), tall, wide, a, b, to, stride); \
        } \
      } \
  }

PACKED(f64, double)
PACKED(f32, float)
#else
enum { AN_OBJECT_IS_NOT_EMPTY };
#endif
