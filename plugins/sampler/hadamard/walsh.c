/* Fast Walsh-Hadamard transforms and chains of them: products of Hadamard matrices, diagonal
 * matrices and a permutation, applied to rows.
 *
 * H is the Sylvester matrix of order P = 2^k with entries (-1)^popcount(i & j), not normalised. A
 * pass takes the two highest bits of the index, transforms over them and puts them lowest; after k
 * bits in all the index is back in its order. So every pass reads four adjacent runs and writes
 * one, whatever the stride of the butterflies, and compilers turn it into vector code for any
 * width. Sums are taken in the same order for each width: the same bits on every instruction
 * set. */
#include "hadamard.h"
#include "shared/isa.h"

void walsh_plain(size_t size, double *x) {
  for (size_t half = 1; half < size; half *= 2)
    for (size_t i = 0; i < size; i += 2 * half)
      for (size_t j = i; j < i + half; j++) {
        const double a = x[j], b = x[j + half];
        x[j] = a + b;
        x[j + half] = a - b;
      }
}

/* For one dtype: passes over two bits or one, the first with a diagonal matrix (NULL: none) before
 * it; a transform of `from` by way of two buffers, of which u is not `from`; it returns where the
 * result is, which is z where z is given; the chain on one row of `dim` numbers (the rest of the P
 * are zeros), with 2 P numbers of scratch. P is 8 at least. */
#define WALSH_DEFINE(real, dtype) \
  ISA_INLINE void walsh_four_##dtype(size_t quarter, const real *restrict factor, \
                                     const real *restrict x, real *restrict y) { \
    const size_t p = quarter, q = 2 * quarter, r = 3 * quarter; \
    for (size_t i = 0; i < quarter; i++) { \
      const real s = factor == NULL ? x[i] : factor[i] * x[i], \
                 t = factor == NULL ? x[i + p] : factor[i + p] * x[i + p]; \
      const real u = factor == NULL ? x[i + q] : factor[i + q] * x[i + q], \
                 v = factor == NULL ? x[i + r] : factor[i + r] * x[i + r]; \
      const real a = s + u, b = t + v, c = s - u, d = t - v; \
      y[4 * i] = a + b; \
      y[4 * i + 1] = a - b; \
      y[4 * i + 2] = c + d; \
      y[4 * i + 3] = c - d; \
    } \
  } \
  ISA_INLINE void walsh_two_##dtype(size_t half, const real *restrict x, real *restrict y) { \
    for (size_t i = 0; i < half; i++) { \
      y[2 * i] = x[i] + x[i + half]; \
      y[2 * i + 1] = x[i] - x[i + half]; \
    } \
  } \
  ISA_INLINE real *walsh_transform_##dtype(size_t size, const real *factor, const real *from, \
                                           real *u, real *v, real *z) { \
    size_t left = size / 4; \
    if (factor == NULL) \
      walsh_four_##dtype(size / 4, NULL, from, u); \
    else \
      walsh_four_##dtype(size / 4, factor, from, u); \
    for (; left > 4; left /= 4) { \
      walsh_four_##dtype(size / 4, NULL, u, v); \
      real *const swap = u; \
      u = v; \
      v = swap; \
    } \
    real *const to = z == NULL ? v : z; \
    if (left == 4) \
      walsh_four_##dtype(size / 4, NULL, u, to); \
    else \
      walsh_two_##dtype(size / 2, u, to); \
    return to; \
  } \
  ISA_INLINE void walsh_multiply_##dtype(size_t count, const real *restrict factor, \
                                         const real *restrict x, real *restrict y) { \
    for (size_t i = 0; i < count; i++) \
      y[i] = factor[i] * x[i]; \
  } \
  ISA_INLINE void walsh_gather_##dtype(const walsh_chain *chain, const real *restrict x, \
                                       real *restrict y) { \
    const real *factor = chain->factors[1]; \
    for (size_t i = 0; i < chain->size; i++) \
      y[i] = factor[i] * x[chain->order[i]]; \
  } \
  ISA_INLINE void walsh_row_##dtype(const walsh_chain *chain, size_t dim, const real *x, real *z, \
                                    real *scratch) { \
    const size_t size = chain->size; \
    const real *from = x; \
    for (size_t k = 0; k < chain->transforms; k++) { \
      const bool last = k + 1 == chain->transforms, pad = k == 0 && dim < size, \
                 gather = k == 1 && chain->order != NULL; \
      real *u = from == scratch ? scratch + size : scratch, \
           *v = u == scratch ? scratch + size : scratch; \
      if (pad) { \
        walsh_multiply_##dtype(dim, chain->factors[0], from, u); \
        memset(u + dim, 0, (size - dim) * sizeof *u); \
      } \
      if (gather) walsh_gather_##dtype(chain, from, u); \
      if (pad || gather) { \
        real *const filled = u; \
        from = filled; \
        u = v; \
        v = filled; \
      } \
      from = walsh_transform_##dtype(size, pad || gather ? NULL : chain->factors[k], from, u, v, \
                                     last && chain->last == NULL ? z : NULL); \
    } \
    if (chain->last != NULL) walsh_multiply_##dtype(size, chain->last, from, z); \
  }

WALSH_DEFINE(double, f64)
WALSH_DEFINE(float, f32)

#define WALSH_ROWS(target, isa, real, dtype) \
  target static void walsh_rows_##dtype##_##isa(const walsh_chain *chain, \
                                                const scl_const_block *x, const scl_block *z, \
                                                size_t at, void *scratch) { \
    for (size_t i = 0; i < x->rows; i++) \
      walsh_row_##dtype(chain, x->cols, (const real *)x->data + (ptrdiff_t)i * x->row_stride, \
                        (real *)z->data + (ptrdiff_t)i * z->row_stride + at, scratch); \
  }

ISA_EACH(WALSH_ROWS, "avx512f")

walsh_rows walsh_choose(scl_dtype dtype) {
  return ISA_CHOOSE(walsh_rows, dtype == SCL_DTYPE_FLOAT32);
}
