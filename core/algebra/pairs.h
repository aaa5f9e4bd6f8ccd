/* The numbers that simple kernels are functions of (scl_pair): <u, v>, ||u - v||^2, ||u - v||_1,
 * cosine and angle, between many parameters at once, and the kernels themselves. */
#ifndef SCULLERY_PAIRS_H
#define SCULLERY_PAIRS_H

#include "base/memory.h"

/* A kernel in the simple form: its table and instance, and what its `scale` says. */
typedef struct scl_pair_kernel {
  const scl_kernel *table;
  const void *self;
  double scale;
} scl_pair_kernel;

/* out (u->count x v->count) = K(u_i, v_j); out[i] = K(u_i, u_i). Both of one space that the kernel
 * is defined on. */
scl_status scl_pairs_gram(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                          const scl_const_parameters *v, double *out, ptrdiff_t stride,
                          scl_error *error);
scl_status scl_pairs_diagonal(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                              double *out, scl_error *error);

#endif
