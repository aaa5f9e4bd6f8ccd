/* Products of blocks of rows with few columns, Phi a and Phi' r: what a pass of an iterative solver
 * consists of. General matrix products spend such shapes on packing; here each feature is read once
 * and all columns are taken along. Products are in the dtype of the rows, their sums over longer
 * stretches float64. */
#ifndef SCULLERY_THIN_H
#define SCULLERY_THIN_H

#include "algebra/matrix.h"

typedef struct scl_thin {
  scl_dtype dtype;
  size_t cols, k; /* D, and columns of a, r and the results */
  bool general;   /* too many columns: by general products */
  void *a;        /* in dtype: k x cols, or cols x k where general */
  double *sums;   /* Phi' r so far, in the same order */
} scl_thin;

/* For rows of `cols` numbers. a (cols x k) may be NULL where no product is wanted. */
scl_status scl_thin_open(scl_dtype dtype, size_t cols, const double *a, size_t k, scl_thin *out,
                         scl_error *error);
void scl_thin_close(scl_thin *thin);
/* out (rows x k) = Phi a, Phi rows x cols at stride. */
scl_status scl_thin_product(const scl_thin *thin, size_t rows, const void *phi, ptrdiff_t stride,
                            double *out, scl_error *error);
/* The sums += Phi' r, r rows x k. */
scl_status scl_thin_adjoint(scl_thin *thin, size_t rows, const void *phi, ptrdiff_t stride,
                            const double *r, scl_error *error);
/* out (cols x k) += the sums. */
void scl_thin_collect(const scl_thin *thin, double *out);

/* A single product: slots of scl_dense_algebra. */
scl_status scl_thin_product_once(scl_dtype dtype, size_t rows, size_t cols, const void *x,
                                 ptrdiff_t stride, const double *a, size_t k, double *out,
                                 scl_error *error);
scl_status scl_thin_adjoint_once(scl_dtype dtype, size_t rows, size_t cols, const void *x,
                                 ptrdiff_t stride, const double *r, size_t k, double *out,
                                 scl_error *error);

#endif
