/* Dense algebra over OpenBLAS, one thread a call: parallelism is the pool's, over tiles whose size
 * depends on the shapes alone. All matrices row-major. */
#ifndef SCULLERY_DENSE_H
#define SCULLERY_DENSE_H

#include "base/memory.h"

extern const scl_dense_algebra scl_service_dense;

/* C (m x n) = alpha op(A) op(B) + beta C in one dtype; in the calling thread. */
void scl_gemm(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
              double alpha, const void *a, ptrdiff_t lda, const void *b, ptrdiff_t ldb, double beta,
              void *c, ptrdiff_t ldc);
/* lower triangle of C (n x n) = alpha A'A + beta C, A is k x n. */
void scl_syrk(scl_dtype dtype, size_t n, size_t k, double alpha, const void *a, ptrdiff_t lda,
              double beta, void *c, ptrdiff_t ldc);
/* The same product over the pool's threads. */
void scl_gemm_parallel(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m, size_t n,
                       size_t k, double alpha, const void *a, ptrdiff_t lda, const void *b,
                       ptrdiff_t ldb, double beta, void *c, ptrdiff_t ldc);
/* The same with alpha = 1 and beta = 0, until Ctrl-C: SCL_STATUS_CANCELLED, and C is of no use. */
scl_status scl_gemm_interruptible(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m,
                                  size_t n, size_t k, const void *a, ptrdiff_t lda, const void *b,
                                  ptrdiff_t ldb, void *c, ptrdiff_t ldc, scl_error *error);
/* Lower Cholesky factor in place; the place of the first pivot that is not positive (from 0), or n
 * when all is well. */
size_t scl_potrf(size_t n, double *a, ptrdiff_t lda);
/* B = L^-1 B or L^-T B, L n x n lower, B n x k. */
void scl_trsm(bool transpose, size_t n, size_t k, const double *l, ptrdiff_t ldl, double *b,
              ptrdiff_t ldb);
/* B = B L^-T, L n x n lower, B m x n. */
void scl_trsm_right(size_t m, size_t n, const double *l, ptrdiff_t ldl, double *b, ptrdiff_t ldb);
/* Eigenvalues of a (n x n, row-major): real[n], and imaginary[n] unless `symmetric` (then real is
 * ascending). Ctrl-C ends the call. */
scl_status scl_eigenvalues(bool symmetric, size_t n, const double *a, double *real,
                           double *imaginary, scl_error *error);
/* The `count` largest eigenvalues of a symmetric matrix (its lower triangle), descending, and their
 * vectors, one a row (count x n). Ctrl-C ends the call. */
scl_status scl_eigenvectors(size_t n, size_t count, const double *a, double *values,
                            double *vectors, scl_error *error);

#endif
