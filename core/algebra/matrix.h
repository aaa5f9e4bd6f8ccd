/* Matrices of float64 or float32. A scl_matrix is a view with any strides, passed by value, of a
 * reference-counted storage. */
#ifndef SCULLERY_MATRIX_H
#define SCULLERY_MATRIX_H

#include "base/memory.h"

typedef struct scl_storage scl_storage; /* reference-counted bytes */

typedef struct scl_matrix {
  scl_storage *storage; /* NULL in an empty scl_matrix */
  void *data;
  size_t rows, cols;
  ptrdiff_t row_stride, col_stride; /* in elements */
  scl_dtype dtype;
} scl_matrix;

/* A row-major matrix of zeros. SCL_STATUS_NO_MEMORY names the size in bytes. */
scl_status scl_matrix_create(size_t rows, size_t cols, scl_dtype dtype, scl_matrix *out,
                             scl_error *error);
/* The same, uninitialised. */
scl_status scl_matrix_create_raw(size_t rows, size_t cols, scl_dtype dtype, scl_matrix *out,
                                 scl_error *error);
/* A view of numbers of the caller, row by row and `stride` apart, which are not released with it and
 * stay as long as any view of them is used. */
scl_status scl_matrix_borrow(const void *data, size_t rows, size_t cols, ptrdiff_t stride,
                             scl_dtype dtype, scl_matrix *out, scl_error *error);
/* A matrix of numbers from scl_allocate, row by row, which it owns, also after a failure. */
scl_status scl_matrix_adopt(void *data, size_t rows, size_t cols, scl_dtype dtype, scl_matrix *out,
                            scl_error *error);
/* The numbers of a matrix without gaps, row by row, become the caller's, who releases them, and *a
 * empty. NULL, and *a stays, if it has gaps or other views have its storage. */
void *scl_matrix_surrender(scl_matrix *a);
/* Another view of the same storage, which takes a reference. */
scl_matrix scl_matrix_share(const scl_matrix *a);
/* Release the reference of this view; the last one releases the storage. *a becomes empty. */
void scl_matrix_release(scl_matrix *a);
/* The size of the storage of a view in bytes. */
size_t scl_matrix_bytes(const scl_matrix *a);

/* Views, each of which takes a reference: rows first_row .. first_row+rows-1 and columns likewise,
 * which the caller has checked; and the transpose. */
scl_matrix scl_matrix_slice(const scl_matrix *a, size_t first_row, size_t rows, size_t first_col,
                            size_t cols);
scl_matrix scl_matrix_transpose(const scl_matrix *a);

static inline bool scl_matrix_is_rowwise(const scl_matrix *a) {
  return a->col_stride == 1 || a->cols <= 1;
}

/* One entry, whose indices the caller has checked. */
static inline double scl_matrix_get(const scl_matrix *a, size_t i, size_t j) {
  const ptrdiff_t at = (ptrdiff_t)i * a->row_stride + (ptrdiff_t)j * a->col_stride;
  return a->dtype == SCL_DTYPE_FLOAT64 ? ((const double *)a->data)[at]
                                       : (double)((const float *)a->data)[at];
}
static inline void scl_matrix_set(scl_matrix *a, size_t i, size_t j, double value) {
  const ptrdiff_t at = (ptrdiff_t)i * a->row_stride + (ptrdiff_t)j * a->col_stride;
  if (a->dtype == SCL_DTYPE_FLOAT64)
    ((double *)a->data)[at] = value;
  else
    ((float *)a->data)[at] = (float)value;
}
/* The address of the first entry of row i of a float64 or float32 matrix. */
static inline double *scl_matrix_row(const scl_matrix *a, size_t i) {
  return (double *)a->data + (ptrdiff_t)i * a->row_stride;
}
static inline float *scl_matrix_row_f32(const scl_matrix *a, size_t i) {
  return (float *)a->data + (ptrdiff_t)i * a->row_stride;
}

/* A row-major copy in the given dtype. */
scl_status scl_matrix_copy(const scl_matrix *a, scl_dtype dtype, scl_matrix *out, scl_error *error);
/* to = from, for the same shape and any strides and dtypes. The two do not overlap. */
void scl_matrix_assign(const scl_matrix *from, scl_matrix *to);
/* Find the first entry, in row-major order, that is NaN or infinite. False: all are finite. */
bool scl_matrix_find_nonfinite(const scl_matrix *a, size_t *row, size_t *col);

#endif
