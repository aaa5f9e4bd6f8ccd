/* Arithmetic on matrices, number by number, and reductions: what scripts do with results. Sums are
 * pairwise, so that errors grow with log n; no result depends on the number of threads.
 * Ctrl-C ends each early: the caller asks scl_interrupt_check() before it uses what came out. */
#ifndef SCULLERY_ARITHMETIC_H
#define SCULLERY_ARITHMETIC_H

#include "algebra/matrix.h"

typedef enum scl_operation { SCL_PLUS, SCL_MINUS, SCL_TIMES, SCL_OVER } scl_operation;

/* One side of an operation: a matrix, or where that is NULL a number. */
typedef struct scl_operand {
  const scl_matrix *matrix;
  double number;
} scl_operand;

/* out = left (op) right, all of out's shape. */
void scl_matrix_operate(scl_operation operation, const scl_operand *left, const scl_operand *right,
                        scl_matrix *out);
/* Each number of a packed matrix. */
void scl_matrix_fill(scl_matrix *a, double value);
/* out = |a| */
void scl_matrix_absolute(const scl_matrix *a, scl_matrix *out);

typedef enum scl_reducing {
  SCL_SUM,
  SCL_MEAN,
  SCL_DEVIATION, /* standard deviation, divided by the count */
  SCL_LEAST,
  SCL_MOST,
  SCL_ARGMOST /* the place of the largest, from 1 */
} scl_reducing;

/* Over all numbers, row by row. */
double scl_matrix_reduce(const scl_matrix *a, scl_reducing what);
/* out[k] over column k (down), or over row k. */
void scl_matrix_reduce_lines(const scl_matrix *a, scl_reducing what, bool down, double *out);

/* sqrt of the sum of squares, without overflow. */
double scl_matrix_norm(const scl_matrix *a);
/* Sum of the products of entries of two matrices of one shape. */
double scl_matrix_dot(const scl_matrix *a, const scl_matrix *b);
bool scl_matrix_is_symmetric(const scl_matrix *a);

/* out = a b, of its shape; float32 where both are. a, b and out have no more rows and columns than
 * OpenBLAS can count. SCL_STATUS_CANCELLED after Ctrl-C. */
scl_status scl_matrix_multiply(const scl_matrix *a, const scl_matrix *b, const scl_matrix *out,
                               scl_error *error);
/* Eigenvalues of a square matrix of finite numbers: real[n], and where one is complex imaginary[n],
 * with *complex set. */
scl_status scl_matrix_eigenvalues(const scl_matrix *a, double *real, double *imaginary,
                                  bool *complex, scl_error *error);

#endif
