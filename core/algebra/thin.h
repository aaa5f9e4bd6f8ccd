/* Thin products Phi a and Phi' r of blocks of rows with few columns, which iterative solvers need
 * in each pass. General matrix products spend most of their time on packing for such shapes; here
 * each feature is read once for all columns. Products are in the dtype of the rows, and partial
 * sums are added in float64. */
#ifndef SCULLERY_THIN_H
#define SCULLERY_THIN_H

#include "algebra/matrix.h"

typedef struct scl_thin {
  scl_dtype dtype;
  size_t cols, k; /* D, and columns of a, r and the results */
  bool general;   /* k > SCL_THIN_COLUMNS: use general products */
  void *a;        /* in dtype: k x cols; cols x k where general */
  double *sums;   /* Phi' r so far, in the same layout */
} scl_thin;

/* Prepare products for rows of `cols` numbers. a (cols x k) may be NULL where only adjoints are
 * needed. */
scl_status scl_thin_open(scl_dtype dtype, size_t cols, const double *a, size_t k, scl_thin *out,
                         scl_error *error);
void scl_thin_close(scl_thin *thin);
/* out (rows x k) = Phi a, with Phi rows x cols (row stride `stride`). */
scl_status scl_thin_product(const scl_thin *thin, size_t rows, const void *phi, ptrdiff_t stride,
                            double *out, scl_error *error);
/* Add Phi' r to the sums, with r rows x k. */
scl_status scl_thin_adjoint(scl_thin *thin, size_t rows, const void *phi, ptrdiff_t stride,
                            const double *r, scl_error *error);
/* Add the sums to out (cols x k). */
void scl_thin_collect(const scl_thin *thin, double *out);

/* Single products: slots of scl_dense_algebra. */
scl_status scl_thin_product_once(scl_dtype dtype, size_t rows, size_t cols, const void *x,
                                 ptrdiff_t stride, const double *a, size_t k, double *out,
                                 scl_error *error);
scl_status scl_thin_adjoint_once(scl_dtype dtype, size_t rows, size_t cols, const void *x,
                                 ptrdiff_t stride, const double *r, size_t k, double *out,
                                 scl_error *error);

#endif
