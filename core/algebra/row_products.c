/* Products of rows with a packed matrix, through the loops of base/loops.h: the terms of each entry
 * are added in one fixed order. */
#include "algebra/row_products.h"

#include "base/loops.h"
#include "base/pool.h"
#include <string.h>

/* Bytes of the widest strip of any instruction set. */
enum { MOST_STRIP_BYTES = 192 };
/* Bytes of a row of a strip that are read for its first column alone. */
enum { COLUMN_BYTES = 16 };

static size_t strip_width(scl_dtype dtype) {
  return scl_loops_get()->strip_bytes / scl_dtype_size(dtype);
}

size_t scl_strip_numbers(scl_dtype dtype, size_t terms, size_t cols) {
  const size_t width = strip_width(dtype);
  return (cols + width - 1) / width * width * terms;
}

/* set_SUFFIX: to[k width] = column[k] */
#define SET(suffix, type) \
  static void set_##suffix(size_t terms, const double *column, size_t width, type *to) { \
    for (size_t k = 0; k < terms; k++) \
      to[k * width] = (type)column[k]; \
  }
SET(f64, double)
SET(f32, float)

void scl_strip_set(scl_dtype dtype, size_t terms, size_t j, const double *column, void *packed) {
  const size_t width = strip_width(dtype);
  void *to = scl_at_mutable(packed, dtype, (ptrdiff_t)(j / width * width * terms + j % width));
  if (dtype == SCL_DTYPE_FLOAT64)
    set_f64(terms, column, width, to);
  else
    set_f32(terms, column, width, to);
}

/* C = A B, or C += A B with `add`, for the packed B. */
static void multiply_packed(scl_dtype dtype, size_t m, size_t first, size_t n, size_t k,
                            const void *a, ptrdiff_t lda, const void *packed, bool add, void *c,
                            ptrdiff_t ldc) {
  if (dtype == SCL_DTYPE_FLOAT64)
    scl_loops_get()->row_product_f64(k, m, first, n, a, lda, packed, add, c, ldc);
  else
    scl_loops_get()->row_product_f32(k, m, first, n, a, lda, packed, add, c, ldc);
}

void scl_row_product(scl_dtype dtype, size_t m, size_t first, size_t n, size_t k, const void *a,
                     ptrdiff_t lda, const void *packed, void *c, ptrdiff_t ldc) {
  multiply_packed(dtype, m, first, n, k, a, lda, packed, false, c, ldc);
}

/* ------------ B packed piece by piece */

/* pack_SUFFIX: to (terms x width) = alpha times the transpose of `cols` rows of b, or `cols`
 * columns of b; zeros as far as they are read. Four rows are transposed together: neighbours are
 * stored at once. */
#define PACK(suffix, type) \
  static void transpose_##suffix(size_t terms, size_t cols, type alpha, const type *b, \
                                 ptrdiff_t ldb, size_t width, type *to) { \
    size_t j = 0; \
    for (; j + 4 <= cols; j += 4) { \
      const type *x = b + (ptrdiff_t)j * ldb, *y = x + ldb, *z = y + ldb, *w = z + ldb; \
      for (size_t k = 0; k < terms; k++) { \
        const type four[] = {alpha * x[k], alpha * y[k], alpha * z[k], alpha * w[k]}; \
        memcpy(to + k * width + j, four, sizeof four); \
      } \
    } \
    for (; j < cols; j++) \
      for (size_t k = 0; k < terms; k++) \
        to[k * width + j] = alpha * b[(ptrdiff_t)j * ldb + (ptrdiff_t)k]; \
  } \
\
  static void pack_##suffix(bool transpose, size_t terms, size_t cols, type alpha, const type *b, \
                            ptrdiff_t ldb, size_t width, type *to) { \
    if (transpose) transpose_##suffix(terms, cols, alpha, b, ldb, width, to); \
    for (size_t k = 0; !transpose && k < terms; k++) \
      for (size_t j = 0; j < cols; j++) \
        to[k * width + j] = alpha * b[(ptrdiff_t)k * ldb + (ptrdiff_t)j]; \
    const size_t end = cols == 1 ? COLUMN_BYTES / sizeof(type) : width; \
    for (size_t k = 0; cols < width && k < terms; k++) \
      for (size_t j = cols; j < end; j++) \
        to[k * width + j] = 0; \
  }
PACK(f64, double)
PACK(f32, float)

/* C (m x n) *= factor */
static void scale_rows(scl_dtype dtype, size_t m, size_t n, double factor, void *c, ptrdiff_t ldc) {
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      const size_t at = (size_t)((ptrdiff_t)i * ldc) + j;
      scl_set_number(c, dtype, at, factor * scl_number(c, dtype, at));
    }
}

void scl_row_gemm(scl_dtype dtype, bool transpose_b, size_t m, size_t n, size_t k, double alpha,
                  const void *a, ptrdiff_t lda, const void *b, ptrdiff_t ldb, double beta, void *c,
                  ptrdiff_t ldc) {
  const size_t width = strip_width(dtype);
  union {
    double wide[MOST_STRIP_BYTES * SCL_ROW_TERMS / sizeof(double)];
    float narrow[MOST_STRIP_BYTES * SCL_ROW_TERMS / sizeof(float)];
  } piece;
  if (m == 0) return;
  if (beta != 0 && beta != 1) scale_rows(dtype, m, n, beta, c, ldc);
  for (size_t from = 0; from == 0 || from < k; from += SCL_ROW_TERMS)
    for (size_t j = 0; j < n; j += width) {
      const size_t terms = scl_min(SCL_ROW_TERMS, k - from), cols = scl_min(width, n - j);
      const ptrdiff_t row = (ptrdiff_t)(transpose_b ? j : from),
                      col = (ptrdiff_t)(transpose_b ? from : j);
      const void *at = scl_at(b, dtype, row * ldb + col);
      if (dtype == SCL_DTYPE_FLOAT64)
        pack_f64(transpose_b, terms, cols, alpha, at, ldb, width, piece.wide);
      else
        pack_f32(transpose_b, terms, cols, (float)alpha, at, ldb, width, piece.narrow);
      multiply_packed(dtype, m, 0, cols, terms, scl_at(a, dtype, (ptrdiff_t)from), lda, &piece,
                      beta != 0 || from > 0, scl_at_mutable(c, dtype, (ptrdiff_t)j), ldc);
    }
}

/* Rows and columns of the result that a task computes. */
enum { TASK_ROWS = 256, TASK_COLUMNS = 480 };

typedef struct row_job {
  scl_dtype dtype;
  bool transpose_b;
  size_t m, n, k, across;
  const void *a, *b;
  void *c;
  ptrdiff_t lda, ldb, ldc;
} row_job;

/* A task of the pool: a block of TASK_ROWS x TASK_COLUMNS of the result. Its sums over k are not
 * divided, so that results do not depend on the number of threads. */
static void product_task(void *context, size_t index) {
  const row_job *p = context;
  const size_t i = index / p->across * TASK_ROWS, j = index % p->across * TASK_COLUMNS;
  scl_row_gemm(p->dtype, p->transpose_b, scl_min(TASK_ROWS, p->m - i),
               scl_min(TASK_COLUMNS, p->n - j), p->k, 1,
               scl_at(p->a, p->dtype, (ptrdiff_t)i * p->lda), p->lda,
               scl_at(p->b, p->dtype, (ptrdiff_t)j * (p->transpose_b ? p->ldb : 1)), p->ldb, 0,
               scl_at_mutable(p->c, p->dtype, (ptrdiff_t)i * p->ldc + (ptrdiff_t)j), p->ldc);
}

void scl_row_gemm_parallel(scl_dtype dtype, bool transpose_b, size_t m, size_t n, size_t k,
                           const void *a, ptrdiff_t lda, const void *b, ptrdiff_t ldb, void *c,
                           ptrdiff_t ldc) {
  const size_t across = (n + TASK_COLUMNS - 1) / TASK_COLUMNS;
  row_job job = {dtype, transpose_b, m, n, k, across, a, b, c, lda, ldb, ldc};
  scl_pool_run((m + TASK_ROWS - 1) / TASK_ROWS * across, product_task, &job);
}

/* ------------ triangular solves */

/* Columns J of the result, from those before them: B_J = (B_J - B_I L_JI') L_JJ^-T. */
void scl_row_trsm(size_t m, size_t n, const double *l, ptrdiff_t ldl, double *b, ptrdiff_t ldb) {
  enum { SOME_ROWS = 64 };
  for (size_t first = 0; first < m; first += SOME_ROWS)
    for (size_t j = 0; j < n; j += SCL_ROW_SOLVE) {
      const size_t rows = scl_min(SOME_ROWS, m - first), cols = scl_min(SCL_ROW_SOLVE, n - j);
      const double *factor = l + (ptrdiff_t)j * ldl;
      double *solved = b + (ptrdiff_t)first * ldb, *own = solved + j;
      scl_row_gemm(SCL_DTYPE_FLOAT64, true, rows, cols, j, -1, solved, ldb, factor, ldl, 1, own,
                   ldb);
      scl_loops_get()->row_solve_f64(rows, cols, factor + j, ldl, own, ldb);
    }
}
