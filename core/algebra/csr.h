/* Matrices of which most numbers are 0, as compressed sparse rows (CSR). A scl_csr is a view of
 * reference-counted storage, passed by value. Row i has the number values[k] in column columns[k],
 * for k = starts[i] .. starts[i+1]-1; columns ascend in a row, and none is there twice. starts[0]
 * is not 0 in a view of later rows. */
#ifndef SCULLERY_CSR_H
#define SCULLERY_CSR_H

#include "algebra/matrix.h"

typedef struct scl_csr_storage scl_csr_storage;

typedef struct scl_csr {
  scl_csr_storage *storage; /* NULL in an empty scl_csr */
  int64_t *starts;          /* rows + 1 */
  int32_t *columns;
  void *values;
  size_t rows, cols;
  scl_dtype dtype; /* of the values */
} scl_csr;

/* Room for `entries` numbers, not set; `starts` is 0. SCL_STATUS_NO_MEMORY names the size. */
scl_status scl_csr_create(size_t rows, size_t cols, size_t entries, scl_dtype dtype, scl_csr *out,
                          scl_error *error);
/* A matrix of three arrays from scl_allocate, which it owns, also after a failure. */
scl_status scl_csr_adopt(size_t rows, size_t cols, int64_t *starts, int32_t *columns, void *values,
                         scl_dtype dtype, scl_csr *out, scl_error *error);
/* A view of three arrays of the caller, which are not released with it. They have been checked. */
scl_status scl_csr_borrow(size_t rows, size_t cols, const int64_t *starts, const int32_t *columns,
                          const void *values, scl_dtype dtype, scl_csr *out, scl_error *error);
/* Another view, which takes a reference; all of it, or rows first .. first+rows-1. */
scl_csr scl_csr_share(const scl_csr *a);
scl_csr scl_csr_slice(const scl_csr *a, size_t first, size_t rows);
/* Release the reference of this view. *a becomes empty. */
void scl_csr_release(scl_csr *a);
/* The bytes of the storage of a view. */
size_t scl_csr_bytes(const scl_csr *a);

/* Numbers that are stored. */
static inline size_t scl_csr_entries(const scl_csr *a) {
  return a->rows == 0 ? 0 : (size_t)(a->starts[a->rows] - a->starts[0]);
}
static inline double scl_csr_value(const scl_csr *a, int64_t k) {
  return a->dtype == SCL_DTYPE_FLOAT64 ? ((const double *)a->values)[k]
                                       : (double)((const float *)a->values)[k];
}
/* The same as a record of the plugin interface: rows first .. first+rows-1. */
scl_const_csr scl_csr_const(const scl_csr *a, size_t first, size_t rows);

/* Entry (i, j), whose indices the caller has checked. */
double scl_csr_get(const scl_csr *a, size_t i, size_t j);
/* SCL_STATUS_BAD_DATA, which names row and column from 1: starts that do not ascend, columns that do
 * not ascend in a row or are not below cols, numbers that are not finite. `entries`: of the
 * arrays. */
scl_status scl_csr_check(const scl_csr *a, size_t entries, scl_error *error);
/* *out = a copy of rows places[0 .. count-1], in that order. */
scl_status scl_csr_take(const scl_csr *a, const size_t *places, size_t count, scl_csr *out,
                        scl_error *error);
/* *out = a copy of the rows of `count` matrices (at least one), one below the other, of the same
 * columns and type. */
scl_status scl_csr_join(const scl_csr *parts, size_t count, scl_csr *out, scl_error *error);
/* The same side by side: of the same rows and type. */
scl_status scl_csr_beside(const scl_csr *parts, size_t count, scl_csr *out, scl_error *error);
/* *out = a copy of columns first .. first+cols-1. */
scl_status scl_csr_columns(const scl_csr *a, size_t first, size_t cols, scl_csr *out,
                           scl_error *error);
/* *out = a copy in another type. */
scl_status scl_csr_convert(const scl_csr *a, scl_dtype dtype, scl_csr *out, scl_error *error);
/* *out = the numbers of a dense matrix that are not 0. */
scl_status scl_csr_of_matrix(const scl_matrix *a, scl_csr *out, scl_error *error);
/* *out = numbers in any order, number k in row row[k] and column column[k], which the caller has
 * checked. Several of the same place remain; scl_csr_check refuses them. */
scl_status scl_csr_of_places(size_t rows, size_t cols, size_t entries, const int64_t *row,
                             const int32_t *column, const void *values, scl_dtype dtype,
                             scl_csr *out, scl_error *error);
/* Sort the columns of each row, in place. */
scl_status scl_csr_sort(scl_csr *a, scl_error *error);
/* out (rows x cols at stride, in dtype) = rows first .. first+rows-1 with their zeros. */
void scl_csr_fill(const scl_csr *a, size_t first, size_t rows, scl_dtype dtype, void *out,
                  ptrdiff_t stride);

/* Rows of `cols` numbers that are to be made dense at a time: at least one. */
size_t scl_csr_dense_rows(size_t cols, scl_dtype dtype);

/* out (rows x k) = A b, b cols x k at stride k; out (cols x k) += A'r, r rows x k. All float64, on
 * the pool's threads: each number is a sum in the order of columns, or of rows. */
void scl_csr_product_parallel(const scl_csr *a, const double *b, size_t k, double *out);
/* After Ctrl-C it ends early, and `out` is not filled. */
void scl_csr_product_interruptible(const scl_csr *a, const double *b, size_t k, double *out);
void scl_csr_adjoint_parallel(const scl_csr *a, const double *r, size_t k, double *out);

#endif
