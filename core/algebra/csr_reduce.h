/* Reductions of sparse rows, for scripts. Sums are float64. */
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

#endif
