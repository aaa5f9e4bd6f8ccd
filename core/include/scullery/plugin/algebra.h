/* scullery/plugin/algebra.h: vector functions, small dense matrices and large symmetric ones
 * (scl_host.math, scl_host.dense, scl_host.symmetric), so that a plugin needs no BLAS of its
 * own. */
#ifndef SCULLERY_PLUGIN_ALGEBRA_H
#define SCULLERY_PLUGIN_ALGEBRA_H

#include "block.h"

/* out[i] = f(x[i]), i < count, at the widest instruction set of the machine; out may be x. Error
 * below 4 units in the last place. [any] */
typedef void (*scl_vector_f64)(size_t count, const double *x, double *out);
typedef void (*scl_vector_f32)(size_t count, const float *x, float *out);
typedef struct scl_vector_math {
  scl_head head;
  scl_vector_f64 sin, cos, exp, erf, tanh, log;
  scl_vector_f32 sinf, cosf, expf, erff, tanhf, logf;
} scl_vector_math;
#define SCL_LEAST_VECTOR_MATH SCL_THROUGH(scl_vector_math, logf)

/* Dense float64 matrices, row-major, in the calling thread. [any] */
typedef struct scl_dense_algebra {
  scl_head head;
  /* C (m x n) = alpha op(A) op(B) + beta C; op transposes if its flag is not 0; k is the inner
   * dimension. Where transpose_a is 0, a row of C has the same bits whatever rows of A are beside
   * its own. */
  void (*gemm)(int32_t transpose_a, int32_t transpose_b, size_t m, size_t n, size_t k, double alpha,
               const double *a, ptrdiff_t lda, const double *b, ptrdiff_t ldb, double beta,
               double *c, ptrdiff_t ldc);
  /* Lower triangle of C (n x n) = alpha A'A + beta C, A k x n. */
  void (*syrk)(size_t n, size_t k, double alpha, const double *a, ptrdiff_t lda, double beta,
               double *c, ptrdiff_t ldc);
  /* Lower Cholesky factor in place. SCL_STATUS_NUMERIC: A is not positive definite. */
  scl_status (*potrf)(size_t n, double *a, ptrdiff_t lda, scl_error *error);
  /* Solve L L' X = B in place, B n x k. */
  void (*potrs)(size_t n, size_t k, const double *l, ptrdiff_t ldl, double *b, ptrdiff_t ldb);
  /* out (rows x k) = X a and out (cols x k) = X'r, X rows x cols of either dtype, for few columns
   * k. They run on the host's threads, so do not call them in a task of `parallel`. float32 X is
   * multiplied in float32, and long sums are float64. [one] */
  scl_status (*thin_product)(scl_dtype dtype, size_t rows, size_t cols, const void *x,
                             ptrdiff_t stride, const double *a, size_t k, double *out,
                             scl_error *error);
  scl_status (*thin_adjoint)(scl_dtype dtype, size_t rows, size_t cols, const void *x,
                             ptrdiff_t stride, const double *r, size_t k, double *out,
                             scl_error *error);
} scl_dense_algebra;
#define SCL_LEAST_DENSE_ALGEBRA SCL_THROUGH(scl_dense_algebra, potrs)

/* Large symmetric float64 matrices, stored as tiles of the lower triangle (half the memory).
 * The functions run on the host's threads; results do not depend on their number. A const matrix
 * from the host may represent a combination of others: read it only by these functions. [one] for
 * each matrix that is written. */
typedef struct scl_symmetric scl_symmetric;
typedef struct scl_symmetric_algebra {
  scl_head head;
  scl_status (*create)(size_t n, scl_symmetric **out, scl_error *error); /* zeros */
  void (*destroy)(scl_symmetric *a);
  size_t (*order)(const scl_symmetric *a);
  void (*copy)(const scl_symmetric *from, scl_symmetric *to);           /* same order */
  void (*add)(double factor, const scl_symmetric *x, scl_symmetric *a); /* a += factor x */
  void (*scale)(double factor, scl_symmetric *a);                       /* a *= factor */
  void (*shift)(double value, scl_symmetric *a);                        /* a += value I */
  /* Rows i .. i+rows-1, columns j .. j+cols-1 of a = block; entries above the diagonal are
   * ignored. [any] if the rectangles differ. */
  void (*set)(scl_symmetric *a, size_t i, size_t rows, size_t j, size_t cols, const double *block,
              ptrdiff_t stride);
  /* a += alpha X'X, X k x n */
  scl_status (*rank)(scl_symmetric *a, double alpha, const double *x, size_t k, ptrdiff_t stride,
                     scl_error *error);
  void (*diagonal)(const scl_symmetric *a, double *out);                /* n numbers */
  void (*dense)(const scl_symmetric *a, double *out, ptrdiff_t stride); /* n x n, both triangles */
  void (*column)(const scl_symmetric *a, size_t j, double *out);        /* n numbers */
  /* out = A x, x and out n x k */
  scl_status (*multiply)(const scl_symmetric *a, const double *x, size_t k, double *out,
                         scl_error *error);
  /* Lower Cholesky factor in place. If a pivot is not positive: SCL_STATUS_NUMERIC, *pivot is its
   * row (from 0), and the contents of a are undefined. */
  scl_status (*factor)(scl_symmetric *a, size_t *pivot, scl_error *error);
  /* Solve L L' X = B in place, B n x k. */
  scl_status (*solve)(const scl_symmetric *factor, double *b, size_t k, scl_error *error);
  /* Solve L X = B, or L' X = B where transpose is not 0, in place, B n x k. */
  scl_status (*triangular)(const scl_symmetric *factor, int32_t transpose, double *b, size_t k,
                           scl_error *error);
  /* The `count` largest eigenvalues, descending; vectors: eigenvectors, in rows (count x n). */
  scl_status (*eigen)(const scl_symmetric *a, size_t count, double *values, double *vectors,
                      scl_error *error);
  /* a += X'X, X k x n of either dtype: float32 X is multiplied in float32 and added in float64. */
  scl_status (*accumulate)(scl_symmetric *a, scl_dtype dtype, const void *x, ptrdiff_t stride,
                           size_t k, scl_error *error);
  /* Zeros of the order of `like`, stored as it is: see SCL_ABILITY_SHARED_TILES. */
  scl_status (*create_like)(const scl_symmetric *like, scl_symmetric **out, scl_error *error);
} scl_symmetric_algebra;
#define SCL_LEAST_SYMMETRIC_ALGEBRA SCL_THROUGH(scl_symmetric_algebra, eigen)

/* scl_host.service: Cholesky factors of large symmetric matrices in float32, for preconditioners:
 * half the memory of the above, and twice the rate. The matrix A is scaled to a unit diagonal, so
 * that float32 holds it. Solutions have the accuracy of float32. [one] per matrix that is
 * written. */
#define SCL_SERVICE_SYMMETRIC_FLOAT32 "scullery.symmetric-float32/1"
typedef struct scl_symmetric_float32 scl_symmetric_float32;
typedef struct scl_symmetric_float32_algebra {
  scl_head head;
  scl_status (*create)(size_t n, scl_symmetric_float32 **out, scl_error *error); /* not set */
  void (*destroy)(scl_symmetric_float32 *a);
  /* Call first: D = A's diagonal (n numbers), which replaces the diagonal that `set` and `copy`
   * bring. ridge times D is added to A. */
  void (*begin)(scl_symmetric_float32 *a, const double *diagonal, double ridge);
  /* Rows i .. i+rows-1, columns j .. j+cols-1 of A = block; entries above the diagonal are
   * ignored. [any] if the rectangles differ. */
  void (*set)(scl_symmetric_float32 *a, size_t i, size_t rows, size_t j, size_t cols,
              const double *block, ptrdiff_t stride);
  /* All of A from a matrix of the same order that `create` made. */
  scl_status (*copy)(const scl_symmetric *from, scl_symmetric_float32 *to, scl_error *error);
  /* As in scl_symmetric_algebra. */
  scl_status (*factor)(scl_symmetric_float32 *a, size_t *pivot, scl_error *error);
  scl_status (*solve)(const scl_symmetric_float32 *factor, double *b, size_t k, scl_error *error);
} scl_symmetric_float32_algebra;
#define SCL_LEAST_SYMMETRIC_FLOAT32_ALGEBRA SCL_THROUGH(scl_symmetric_float32_algebra, solve)

#endif
