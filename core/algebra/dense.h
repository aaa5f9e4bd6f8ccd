/* Dense linear algebra with OpenBLAS, which uses one thread for each call. The pool runs tiles in
 * parallel, whose size depends only on the shapes. All matrices are row-major. */
#ifndef SCULLERY_DENSE_H
#define SCULLERY_DENSE_H

#include "base/memory.h"

extern const scl_dense_algebra scl_service_dense;

/* C (m x n) = alpha op(A) op(B) + beta C, all of one dtype, in the calling thread. */
void scl_gemm(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
              double alpha, const void *a, ptrdiff_t lda, const void *b, ptrdiff_t ldb, double beta,
              void *c, ptrdiff_t ldc);
/* The lower triangle of C (n x n) = alpha A'A + beta C with A k x n, in the calling thread. */
void scl_syrk(scl_dtype dtype, size_t n, size_t k, double alpha, const void *a, ptrdiff_t lda,
              double beta, void *c, ptrdiff_t ldc);
/* scl_gemm on all threads of the pool. */
void scl_gemm_parallel(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m, size_t n,
                       size_t k, double alpha, const void *a, ptrdiff_t lda, const void *b,
                       ptrdiff_t ldb, double beta, void *c, ptrdiff_t ldc);
/* The same with alpha = 1 and beta = 0. After Ctrl-C: SCL_STATUS_CANCELLED, and C is undefined. */
scl_status scl_gemm_interruptible(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m,
                                  size_t n, size_t k, const void *a, ptrdiff_t lda, const void *b,
                                  ptrdiff_t ldb, void *c, ptrdiff_t ldc, scl_error *error);
/* The lower Cholesky factor, in place. Returns n, or the index (from 0) of the first pivot that is
 * not positive. */
size_t scl_potrf(size_t n, double *a, ptrdiff_t lda);
/* B = L^-1 B, or L^-T B where `transpose`; L n x n lower triangular, B n x k. */
void scl_trsm(bool transpose, size_t n, size_t k, const double *l, ptrdiff_t ldl, double *b,
              ptrdiff_t ldb);
/* B = B L^-T; L n x n lower triangular, B m x n. */
void scl_trsm_right(size_t m, size_t n, const double *l, ptrdiff_t ldl, double *b, ptrdiff_t ldb);
/* Eigenvalues of an n x n matrix: real parts in real[n], imaginary parts in imaginary[n].
 * symmetric: real is ascending, and imaginary is not written. SCL_STATUS_CANCELLED after Ctrl-C,
 * SCL_STATUS_NUMERIC without convergence. */
scl_status scl_eigenvalues(bool symmetric, size_t n, const double *a, double *real,
                           double *imaginary, scl_error *error);
/* The `count` largest eigenvalues of a symmetric n x n matrix (lower triangle), descending, and the
 * eigenvectors as rows of vectors (count x n). Errors as above. */
scl_status scl_eigenvectors(size_t n, size_t count, const double *a, double *values,
                            double *vectors, scl_error *error);

#endif
