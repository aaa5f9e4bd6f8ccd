/* Symmetric positive semidefinite systems. */
#ifndef SCULLERY_TESTS_REFERENCE_LINEAR_H
#define SCULLERY_TESTS_REFERENCE_LINEAR_H

#include "quad.h"

/* The Cholesky factor L of the n x n matrix, in place of its lower triangle. A pivot within 1e-30 of
 * its diagonal entry is no pivot: its row and column are left out, and solutions are 0 there. */
void factor(size_t n, quad *matrix);

/* x = (LL')^-1 x in place. */
void factor_solve(size_t n, const quad *factored, quad *x);

/* Eigenvalues of a symmetric matrix, descending, and the eigenvectors in the rows of `vectors`, by
 * Jacobi's rotations; the matrix is used up. */
void eigen(size_t n, quad *matrix, quad *values, quad *vectors);

#endif
