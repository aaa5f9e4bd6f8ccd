/* Gram matrices of simple kernels (algebra/pairs.h) between sparse rows and a fixed set of rows of
 * which most numbers are 0: landmarks. A row costs its numbers, and those of the set in the same
 * columns. Results are those of the dense rows within rounding. */
#ifndef SCULLERY_PAIRS_CSR_H
#define SCULLERY_PAIRS_CSR_H

#include "algebra/csr.h"
#include "algebra/pairs.h"

typedef struct scl_pair_set scl_pair_set;

/* Whether a kernel is one that columns of two zeros do not change: in the simple form without slot
 * `move`, with a scale that squares do not take out of range; or a sum of terms over the columns in
 * which neither row has 0. */
bool scl_pair_kernel_takes_csr(const scl_pair_kernel *kernel);

/* The rows v, dense parameters, for such a kernel. */
scl_status scl_pair_set_create(const scl_pair_kernel *kernel, const scl_const_parameters *v,
                               scl_pair_set **out, scl_error *error);
scl_status scl_pair_set_create_csr(const scl_pair_kernel *kernel, const scl_csr *v,
                                   scl_pair_set **out, scl_error *error);
void scl_pair_set_destroy(scl_pair_set *set);
size_t scl_pair_set_bytes(const scl_pair_set *set);

/* out (rows->rows x count at stride) = K(u_i, v_j) for j = first .. first+count-1. */
scl_status scl_pair_set_gram(const scl_pair_kernel *kernel, const scl_csr *rows,
                             const scl_pair_set *set, size_t first, size_t count, double *out,
                             ptrdiff_t stride, scl_error *error);

#endif
