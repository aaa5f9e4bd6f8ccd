/* Features as whole numbers: v = clip(round((phi - offset) / quantum)), |v| <= 127 in int8 or 2047
 * in int16. Products of such features are whole numbers, so that their sums are exact: the same
 * for every order of rows, every division of the work, and every instruction set. */
#ifndef SCULLERY_WHOLE_H
#define SCULLERY_WHOLE_H

#include "algebra/symmetric.h"

typedef enum scl_whole { SCL_WHOLE_NONE = 0, SCL_WHOLE_INT8, SCL_WHOLE_INT16 } scl_whole;

static inline size_t scl_whole_size(scl_whole type) { return type == SCL_WHOLE_INT8 ? 1 : 2; }
/* The largest |v|. */
static inline int32_t scl_whole_most(scl_whole type) { return type == SCL_WHOLE_INT8 ? 127 : 2047; }
/* "int8", "int16"; NULL of SCL_WHOLE_NONE. */
const char *scl_whole_name(scl_whole type);

/* v[j] = clip(round((y[j] - offset[j]) inverse[j])), halves to even, for `count` numbers of dtype;
 * offset NULL: zeros. The arithmetic is float32 for float32 y, with every operation rounded, so
 * that all instruction sets give the same v. Adds to *clipped how many numbers lie more than half a
 * unit beyond the largest v. false: a number is not finite. */
bool scl_whole_round(scl_whole type, scl_dtype dtype, size_t count, const void *y,
                     const void *offset, const void *inverse, void *v, size_t *clipped);

/* A symmetric matrix of whole numbers of 128 bits: entry (i, j) is high * 2^64 + low. The memory of
 * the float64 entries of `low` and `high` holds uint64_t and int64_t numbers. With high NULL, the
 * numbers have 64 bits, and `low` holds int64_t numbers. */
typedef struct scl_whole_totals {
  scl_symmetric *low, *high;
  size_t known; /* products of the first so many columns among themselves are not added */
} scl_whole_totals;
/* totals += 2^shift V'V for V (rows x n, row stride `stride`, of the type); 0 <= shift < 64. The
 * caller makes sure that no total exceeds 2^62 (2^126 with `high`). On the pool's threads. */
scl_status scl_whole_accumulate(const scl_whole_totals *totals, scl_whole type, const void *v,
                                ptrdiff_t stride, size_t rows, unsigned shift, scl_error *error);

/* The bytes of copies of V that this makes, if there is memory; with little memory one copy. */
double scl_whole_packed_bytes(scl_whole type, size_t n, size_t rows);

/* out (rows x k) = V a, with V rows x cols and a (k x cols: column after column) in float64. The
 * order of a row's sum depends on `cols` alone. On the pool's threads. */
void scl_whole_product(scl_whole type, size_t rows, size_t cols, const void *v, ptrdiff_t stride,
                       const double *a, size_t k, double *out);
/* sums (k x cols) += V'd, with d rows x k whole numbers in float64: exact where the sum of |v| |d|
 * stays below 2^53, as it does for |d| < 2^26 and rows <= 2^15. On the pool's threads. */
void scl_whole_adjoint(scl_whole type, size_t rows, size_t cols, const void *v, ptrdiff_t stride,
                       const double *d, size_t k, double *sums);

#endif
