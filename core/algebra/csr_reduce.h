/* Reductions and comparisons of sparse rows, for scripts. Sums are float64. */
#ifndef SCULLERY_CSR_REDUCE_H
#define SCULLERY_CSR_REDUCE_H

#include "algebra/arithmetic.h"
#include "algebra/csr.h"

/* a *= factor, or a /= factor; `a` is a whole matrix. */
void scl_csr_scale(scl_csr *a, double factor, bool quotient);
/* counts[k] += the stored numbers of column k (down) or of row k. */
void scl_csr_count(const scl_csr *a, bool down, double *counts);
/* out[k] over column k (down) or row k, by SCL_SUM, SCL_MEAN, SCL_LEAST or SCL_MOST; returns the same
 * over all numbers. out and counts (as many, which it uses) come full of zeros. */
double scl_csr_reduce(const scl_csr *a, scl_reducing what, bool down, double *out, double *counts);
/* The Frobenius norm, without overflow. */
double scl_csr_norm(const scl_csr *a);
/* Whether both have the same shape and numbers; a stored 0 equals one that is not stored. */
bool scl_csr_equal(const scl_csr *a, const scl_csr *b);
bool scl_csr_equal_matrix(const scl_csr *a, const scl_matrix *b);
/* The place of the first stored number that is not finite; false if all are. */
bool scl_csr_find_nonfinite(const scl_csr *a, size_t *row, size_t *col);

#endif
