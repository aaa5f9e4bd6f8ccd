/* Products and solves in which each row of the result depends on its own row alone: not on the rows
 * beside it, its place among them, or the number of threads. OpenBLAS has other kernels at the
 * edges of a matrix and for small ones, whose results differ in the last bits. Features and
 * decisions of rows are made by these functions. */
#ifndef SCULLERY_ROW_PRODUCTS_H
#define SCULLERY_ROW_PRODUCTS_H

#include "base/memory.h"

/* A matrix B (terms x cols) packed for scl_loops.row_product takes scl_strip_numbers numbers, at
 * first zeros; scl_strip_set stores column j. */
size_t scl_strip_numbers(scl_dtype dtype, size_t terms, size_t cols);
void scl_strip_set(scl_dtype dtype, size_t terms, size_t j, const double *column, void *packed);

/* C (m x n) = A B for columns first .. first+n-1 of the packed B (k rows), in the calling
 * thread. */
void scl_row_product(scl_dtype dtype, size_t m, size_t first, size_t n, size_t k, const void *a,
                     ptrdiff_t lda, const void *packed, void *c, ptrdiff_t ldc);
/* C (m x n) = A (alpha op(B)) + beta C, in the calling thread; alpha op(B) is packed piece by
 * piece. */
void scl_row_gemm(scl_dtype dtype, bool transpose_b, size_t m, size_t n, size_t k, double alpha,
                  const void *a, ptrdiff_t lda, const void *b, ptrdiff_t ldb, double beta, void *c,
                  ptrdiff_t ldc);
/* The same with alpha = 1 and beta = 0 on all threads of the pool, to the same bits. */
void scl_row_gemm_parallel(scl_dtype dtype, bool transpose_b, size_t m, size_t n, size_t k,
                           const void *a, ptrdiff_t lda, const void *b, ptrdiff_t ldb, void *c,
                           ptrdiff_t ldc);
/* B = B L^-T; L n x n lower triangular, B m x n, in the calling thread. */
void scl_row_trsm(size_t m, size_t n, const double *l, ptrdiff_t ldl, double *b, ptrdiff_t ldb);

#endif
