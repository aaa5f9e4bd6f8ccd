/* Elementwise arithmetic, reductions, products and eigenvalues of matrices, for scripts. Sums are
 * pairwise, so that rounding errors grow with log n; no result depends on the number of threads.
 * After Ctrl-C the functions return early: where they return no status, the caller has to call
 * scl_interrupt_check() before it uses the result. */
#ifndef SCULLERY_ARITHMETIC_H
#define SCULLERY_ARITHMETIC_H

#include "algebra/matrix.h"

typedef enum scl_operation { SCL_PLUS, SCL_MINUS, SCL_TIMES, SCL_OVER } scl_operation;

/* One side of an operation: a matrix; matrix NULL: a number. */
typedef struct scl_operand {
  const scl_matrix *matrix;
  double number;
} scl_operand;

/* out = left (op) right; matrices have the shape of out. */
void scl_matrix_operate(scl_operation operation, const scl_operand *left, const scl_operand *right,
                        scl_matrix *out);
/* Set each entry of a packed matrix. */
void scl_matrix_fill(scl_matrix *a, double value);
/* out = |a| */
void scl_matrix_absolute(const scl_matrix *a, scl_matrix *out);
/* Row i of `out`, a packed matrix of the dtype of a, = row places[i] of a. */
void scl_matrix_take(const scl_matrix *a, const size_t *places, const scl_matrix *out);
/* Whether both have the same shape and numbers, whatever their dtypes; NaN equals nothing. */
bool scl_matrix_equal(const scl_matrix *a, const scl_matrix *b);

typedef enum scl_reducing {
  SCL_SUM,
  SCL_MEAN,
  SCL_DEVIATION, /* standard deviation, divided by the count */
  SCL_LEAST,
  SCL_MOST,
  SCL_ARGMOST /* the position of the largest number, from 1 */
} scl_reducing;

/* Over all entries, in row-major order. */
double scl_matrix_reduce(const scl_matrix *a, scl_reducing what);
/* out[k] over column k (down = true) or row k. */
void scl_matrix_reduce_lines(const scl_matrix *a, scl_reducing what, bool down, double *out);

/* The Frobenius norm, without overflow. */
double scl_matrix_norm(const scl_matrix *a);
/* The sum of a_ij b_ij for matrices of the same shape. */
double scl_matrix_dot(const scl_matrix *a, const scl_matrix *b);

/* out = a b, computed in the dtype of out. No dimension exceeds INT32_MAX, the range of OpenBLAS's
 * integers. SCL_STATUS_CANCELLED after Ctrl-C. */
scl_status scl_matrix_multiply(const scl_matrix *a, const scl_matrix *b, const scl_matrix *out,
                               scl_error *error);
/* Eigenvalues of an n x n matrix of finite numbers: real parts in real[n], imaginary parts in
 * imaginary[n] where *complex is set. */
scl_status scl_matrix_eigenvalues(const scl_matrix *a, double *real, double *imaginary,
                                  bool *complex, scl_error *error);

#endif
