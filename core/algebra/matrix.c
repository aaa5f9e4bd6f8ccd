/* Matrices as views of reference-counted storage. References are counted atomically, so that views
 * can be shared between threads. */
#include "algebra/matrix.h"
#include "base/text.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct scl_storage {
  atomic_size_t references;
  size_t bytes; /* 0: borrowed */
  void *data;   /* NULL: of somebody else */
};

/* A row-major matrix in new storage from `allocate`. *out is empty after a failure. */
static scl_status matrix_create(size_t rows, size_t cols, scl_dtype dtype,
                                void *(*allocate)(size_t), scl_matrix *out, scl_error *error) {
  memset(out, 0, sizeof *out);
  const double wanted = (double)rows * (double)cols * (double)scl_dtype_size(dtype);
  char text[32];
  if (wanted > 1e15)
    return scl_fail(error, SCL_STATUS_NO_MEMORY, "a %zu x %zu %s matrix would take %s", rows, cols,
                    scl_dtype_name(dtype), scl_bytes_text(wanted, text));
  const size_t bytes = rows * cols * scl_dtype_size(dtype);
  scl_storage *storage = scl_allocate(sizeof *storage);
  void *data = storage == NULL ? NULL : allocate(bytes);
  if (data == NULL) {
    scl_release(storage);
    return scl_fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a %zu x %zu %s matrix (%s)",
                    rows, cols, scl_dtype_name(dtype), scl_bytes_text(wanted, text));
  }
  atomic_init(&storage->references, 1);
  storage->bytes = bytes;
  storage->data = data;
  *out = (scl_matrix){storage, data, rows, cols, (ptrdiff_t)cols, 1, dtype};
  return SCL_STATUS_OK;
}

scl_status scl_matrix_create_raw(size_t rows, size_t cols, scl_dtype dtype, scl_matrix *out,
                                 scl_error *error) {
  return matrix_create(rows, cols, dtype, scl_allocate, out, error);
}

scl_status scl_matrix_create(size_t rows, size_t cols, scl_dtype dtype, scl_matrix *out,
                             scl_error *error) {
  return matrix_create(rows, cols, dtype, scl_allocate_zero, out, error);
}

scl_status scl_matrix_borrow(const void *data, size_t rows, size_t cols, ptrdiff_t stride,
                             scl_dtype dtype, scl_matrix *out, scl_error *error) {
  memset(out, 0, sizeof *out);
  scl_storage *storage = scl_allocate_zero(sizeof *storage);
  if (storage == NULL) return scl_fail_memory(error, sizeof *storage, "a matrix");
  atomic_init(&storage->references, 1);
  *out = (scl_matrix){storage, (void *)(uintptr_t)data, rows, cols, stride, 1, dtype};
  return SCL_STATUS_OK;
}

scl_status scl_matrix_adopt(void *data, size_t rows, size_t cols, scl_dtype dtype, scl_matrix *out,
                            scl_error *error) {
  const scl_status status = scl_matrix_borrow(data, rows, cols, (ptrdiff_t)cols, dtype, out, error);
  if (status != SCL_STATUS_OK) {
    scl_release(data);
    return status;
  }
  out->storage->data = data;
  out->storage->bytes = rows * cols * scl_dtype_size(dtype);
  return status;
}

void *scl_matrix_surrender(scl_matrix *a) {
  scl_storage *storage = a->storage;
  const bool whole = storage != NULL && a->data == storage->data && scl_matrix_is_rowwise(a) &&
                     (a->row_stride == (ptrdiff_t)a->cols || a->rows <= 1);
  if (!whole || atomic_load(&storage->references) != 1) return NULL;
  void *data = storage->data;
  storage->data = NULL;
  scl_matrix_release(a);
  return data;
}

scl_matrix scl_matrix_share(const scl_matrix *a) {
  if (a->storage != NULL) atomic_fetch_add(&a->storage->references, 1);
  return *a;
}

void scl_matrix_release(scl_matrix *a) {
  scl_storage *storage = a->storage;
  memset(a, 0, sizeof *a);
  if (storage == NULL || atomic_fetch_sub(&storage->references, 1) != 1) return;
  scl_release(storage->data);
  scl_release(storage);
}

size_t scl_matrix_bytes(const scl_matrix *a) { return a->storage == NULL ? 0 : a->storage->bytes; }

scl_matrix scl_matrix_slice(const scl_matrix *a, size_t first_row, size_t rows, size_t first_col,
                            size_t cols) {
  scl_matrix view = scl_matrix_share(a);
  const ptrdiff_t offset =
      (ptrdiff_t)first_row * a->row_stride + (ptrdiff_t)first_col * a->col_stride;
  view.data = (char *)a->data + offset * (ptrdiff_t)scl_dtype_size(a->dtype);
  view.rows = rows;
  view.cols = cols;
  return view;
}

scl_matrix scl_matrix_transpose(const scl_matrix *a) {
  scl_matrix view = scl_matrix_share(a);
  view.rows = a->cols;
  view.cols = a->rows;
  view.row_stride = a->col_stride;
  view.col_stride = a->row_stride;
  return view;
}

void scl_matrix_assign(const scl_matrix *from, scl_matrix *to) {
  const bool plain =
      from->dtype == to->dtype && scl_matrix_is_rowwise(from) && scl_matrix_is_rowwise(to);
  const size_t size = scl_dtype_size(from->dtype);
  const ptrdiff_t packed = (ptrdiff_t)from->cols;
  if (plain && from->row_stride == packed && to->row_stride == packed) {
    memcpy(to->data, from->data, from->rows * from->cols * size);
    return;
  }
  for (size_t i = 0; i < from->rows; i++) {
    if (plain)
      memcpy((char *)to->data + (ptrdiff_t)i * to->row_stride * (ptrdiff_t)size,
             (const char *)from->data + (ptrdiff_t)i * from->row_stride * (ptrdiff_t)size,
             from->cols * size);
    else
      for (size_t j = 0; j < from->cols; j++)
        scl_matrix_set(to, i, j, scl_matrix_get(from, i, j));
  }
}

scl_status scl_matrix_copy(const scl_matrix *a, scl_dtype dtype, scl_matrix *out,
                           scl_error *error) {
  SCL_TRY(scl_matrix_create_raw(a->rows, a->cols, dtype, out, error));
  scl_matrix_assign(a, out);
  return SCL_STATUS_OK;
}

bool scl_matrix_find_nonfinite(const scl_matrix *a, size_t *row, size_t *col) {
  for (size_t i = 0; i < a->rows; i++) {
    double sum = 0; /* 0 * x is NaN exactly where x is not finite */
    for (size_t j = 0; j < a->cols; j++)
      sum += 0 * scl_matrix_get(a, i, j);
    if (!isnan(sum)) continue;
    for (size_t j = 0; j < a->cols; j++)
      if (!isfinite(scl_matrix_get(a, i, j))) {
        *row = i;
        *col = j;
        return true;
      }
  }
  return false;
}
