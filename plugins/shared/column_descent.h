/* Weighted least squares with an elastic net penalty on sparse columns, by coordinate descent
 * (column_descent.c). */
#ifndef SCULLERY_SHARED_COLUMN_DESCENT_H
#define SCULLERY_SHARED_COLUMN_DESCENT_H

#include "shared/csr_rows.h"

/* Compressed sparse columns: column j has the number values[k] in row places[k], for k = starts[j]
 * .. starts[j+1]-1. */
typedef struct csc_columns {
  size_t rows, cols;
  int64_t *starts;
  int32_t *places;
  double *values;
} csc_columns;

/* The same numbers by columns, in scratch memory. */
scl_status csc_of(const scl_host *host, const scl_const_csr *rows, csc_columns *out,
                  scl_error *error);

/* out (n) += factor times column j */
static inline void column_add(const csc_columns *x, size_t j, double factor, double *out) {
  for (int64_t k = x->starts[j]; k < x->starts[j + 1]; k++)
    out[x->places[k]] += factor * x->values[k];
}

typedef struct column_row {
  double share, rest; /* h_i, r_i = t_i - x_i'a */
} column_row;

typedef struct column_descent {
  const scl_host *host;
  const csc_columns *x;
  bool constant;
  double l1, l2;
  column_row *rows;            /* n, set by the caller with the a that they belong to */
  double *a;                   /* D */
  double *mean, *bend, *slope; /* D each, of column_measure and column_slopes */
  double total, shift;         /* sum_i h_i; the constant, 0 without one */
  double at;                   /* the constant that column_measure takes slopes at */
  size_t *places, count;       /* the columns that are looked at */
  size_t passes;               /* so far: each has its order */
} column_descent;

/* Takes scratch memory; a = 0. */
scl_status column_open(column_descent *c, const scl_host *host, const csc_columns *x,
                       scl_error *error);

/* Reads what depends on the shares, the constant for the rests, and the slopes of all columns where
 * the constant is `at`: after they were set. */
scl_status column_measure(column_descent *c, double at, scl_error *error);

/* slope_j = sum_i h_i x_ij (r_i - shift), for every column. */
scl_status column_slopes(const column_descent *c, scl_error *error);

/* sum_i h_i (r_i - shift)^2 */
double column_square(const column_descent *c);

/* The columns that are not 0, and those whose slopes are above l1: to be looked at. */
void column_choose(column_descent *c);

/* A pass over these. Returns by how much it lowers the objective, at least. */
double column_pass(column_descent *c);

#endif
