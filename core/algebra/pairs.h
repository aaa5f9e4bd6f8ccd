/* Gram matrices of kernels in the simple form, which are functions of one number of each pair
 * (scl_pair): <u, v>, ||u - v||^2, ||u - v||_1, cosine or angle. */
#ifndef SCULLERY_PAIRS_H
#define SCULLERY_PAIRS_H

#include "algebra/matrix.h"
#include "base/memory.h"

/* A kernel in the simple form: its table, its instance, and the result of its slot `scale`. */
typedef struct scl_pair_kernel {
  const scl_kernel *table;
  const void *self;
  double scale;
} scl_pair_kernel;

/* out (u->count x v->count, row stride `stride`) = K(u_i, v_j), and out[i] = K(u_i, u_i). u and v
 * belong to one space on which the kernel is defined. */
scl_status scl_pairs_gram(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                          const scl_const_parameters *v, double *out, ptrdiff_t stride,
                          scl_error *error);
scl_status scl_pairs_diagonal(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                              double *out, scl_error *error);

/* out = ||x_i - y_j||, row-major float64, of the rows of two matrices with as many columns, none of
 * whose sides exceeds INT32_MAX. Of one with itself the result is symmetric to the last bit.
 * SCL_STATUS_CANCELLED after Ctrl-C. */
scl_status scl_matrix_distances(const scl_matrix *x, const scl_matrix *y, const scl_matrix *out,
                                scl_error *error);

#endif
