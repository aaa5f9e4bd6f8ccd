/* Products of sparse rows with packed columns, compiled once per instruction set (SCL_ISA):
 *
 *   C = A B,   A sparse rows,   B terms x cols, packed in strips as for row products (rows.c)
 *
 * The terms of a number of C are added as the row product of the same dense rows adds them, in
 * chunks of SCL_ROW_CHUNK bytes; terms that are 0 change no sum. So both give the same bits. */
#include "base/isa/csr.h"

enum { VECTORS = ISA_STRIP_BYTES / VECTOR_BYTES };

#define INLINE static inline __attribute__((always_inline))

INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

#define CSR_PRODUCT(suffix, type) \
  typedef type vector_##suffix \
      __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(type)), may_alias)); \
  enum { \
    LANES_##suffix = VECTOR_BYTES / sizeof(type), \
    WIDTH_##suffix = VECTORS * LANES_##suffix, \
    CHUNK_##suffix = SCL_ROW_CHUNK / sizeof(type) \
  }; \
\
  /* total = row i of A times a strip of B, after `total` itself. */ \
  INLINE void row_##suffix(const bool apart, const scl_csr_terms *left, size_t i, size_t strip, \
                           const type *right, vector_##suffix total[VECTORS]) { \
    const type *values = (const type *)left->values; \
    vector_##suffix sum[VECTORS] = {{0}}; \
    int32_t chunk = -1; \
    for (int64_t k = left->begin[i]; k < left->end[i]; k++) { \
      const type *b = apart ? (const type *)left->partners[k] + strip \
                            : right + (size_t)left->columns[k] * WIDTH_##suffix; \
      const vector_##suffix a = values[k] - (vector_##suffix){0}; \
      if (left->columns[k] / CHUNK_##suffix != chunk) { \
        chunk = left->columns[k] / CHUNK_##suffix; \
        for (size_t v = 0; v < VECTORS; v++) { \
          total[v] += sum[v]; \
          sum[v] = (vector_##suffix){0}; \
        } \
      } \
      for (size_t v = 0; v < VECTORS; v++) \
        sum[v] += a * *(const vector_##suffix *)(b + v * LANES_##suffix); \
    } \
    for (size_t v = 0; v < VECTORS; v++) \
      total[v] += sum[v]; \
  } \
\
  /* Columns from .. to-1 of one strip. */ \
  INLINE void strip_##suffix(const bool apart, const scl_csr_terms *left, size_t strip, \
                             size_t from, size_t to, const type *right, bool add, type *out, \
                             ptrdiff_t stride) { \
    for (size_t i = 0; i < left->rows; i++, out += stride) { \
      union { \
        vector_##suffix vectors[VECTORS]; \
        type numbers[WIDTH_##suffix]; \
      } total = {{{0}}}; \
      for (size_t j = from; add && j < to; j++) \
        total.numbers[j] = out[j - from]; \
      row_##suffix(apart, left, i, strip, right, total.vectors); \
      for (size_t j = from; j < to; j++) \
        out[j - from] = total.numbers[j]; \
    } \
  } \
\
  INLINE void whole_strip_##suffix(const bool apart, const scl_csr_terms *left, size_t strip, \
                                   const type *right, bool add, type *out, ptrdiff_t stride) { \
    for (size_t i = 0; i < left->rows; i++, out += stride) { \
      vector_##suffix total[VECTORS] = {{0}}, *to = (vector_##suffix *)out; \
      for (size_t v = 0; add && v < VECTORS; v++) \
        total[v] = to[v]; \
      row_##suffix(apart, left, i, strip, right, total); \
      for (size_t v = 0; v < VECTORS; v++) \
        to[v] = total[v]; \
    } \
  } \
\
  INLINE void strips_##suffix(const bool apart, const scl_csr_terms *left, size_t terms, \
                              size_t first, size_t cols, const type *right, bool add, type *out, \
                              ptrdiff_t stride) { \
    const size_t end = first + cols; \
    for (size_t j = first / WIDTH_##suffix * WIDTH_##suffix; j < end; j += WIDTH_##suffix) { \
      const size_t from = j < first ? first - j : 0, to = least(WIDTH_##suffix, end - j); \
      type *at = out + (j + from - first); \
      const type *packed = apart ? NULL : right + j * terms; \
      if (from == 0 && to == WIDTH_##suffix) \
        whole_strip_##suffix(apart, left, j, packed, add, at, stride); \
      else \
        strip_##suffix(apart, left, j, from, to, packed, add, at, stride); \
    } \
  } \
\
  void ISA_NAME(scl_csr_product_##suffix)(const scl_csr_terms *left, size_t terms, size_t first, \
                                          size_t cols, const type *right, bool add, type *out, \
                                          ptrdiff_t stride) { \
    if (left->partners != NULL) \
      strips_##suffix(true, left, terms, first, cols, right, add, out, stride); \
    else \
      strips_##suffix(false, left, terms, first, cols, right, add, out, stride); \
  }

CSR_PRODUCT(f64, double)
CSR_PRODUCT(f32, float)
