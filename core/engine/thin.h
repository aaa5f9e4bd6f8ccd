/* Products of a block of rows with few columns, Phi a and Phi' r: what a pass of an iterative solver consists of. General matrix products
 * spend such shapes on packing; here each feature is read once, and each product with it is a vector operation over the columns. */
#ifndef SCULLERY_THIN_H
#define SCULLERY_THIN_H

#include "matrix.h"

/* out (rows x k) = Phi a, Phi rows x cols at stride in dtype, a cols x k. Products are in dtype, their sums over longer stretches float64.
 */
scl_status scl_thin_product(scl_dtype dtype, size_t rows, size_t cols, const void *phi, ptrdiff_t stride, const double *a, size_t k,
                            double *out, scl_error *error);
/* out (cols x k) += Phi' r, r rows x k. */
scl_status scl_thin_adjoint(scl_dtype dtype, size_t rows, size_t cols, const void *phi, ptrdiff_t stride, const double *r, size_t k,
                            double *out, scl_error *error);

#endif
