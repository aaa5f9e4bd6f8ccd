/* Writes .npz files: stored members, as numpy.savez does. */
#include "data/files/output.h"
#include "data/files/zip.h"
#include "data/npy_internal.h"
#include "data/npz.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PARTS = 8 };

/* The members, and memory that is released when they were written. */
typedef struct npz_parts {
  scl_zip_part list[MOST_PARTS];
  char heads[MOST_PARTS][NPY_HEADER];
  void *owned[MOST_PARTS];
  size_t count;
  int64_t shape[2];
} npz_parts;

/* Add an array of `type`, whose bytes are borrowed, or owned where `owned` is not NULL. */
static void add(npz_parts *p, const char *name, const char *type, unsigned dimensions, size_t rows,
                size_t cols, const void *bytes, size_t size, void *owned) {
  char *head = p->heads[p->count];
  npy_make_header(type, dimensions, rows, cols, head);
  p->owned[p->count] = owned;
  p->list[p->count++] = (scl_zip_part){name, head, bytes, NPY_HEADER, size};
}

/* Texts as arrays of characters of four bytes, as wide as the widest. */
static scl_status add_texts(npz_parts *p, const scl_npz_content *c, scl_error *error) {
  size_t width = 1;
  char type[24];
  const size_t rows = c->y->rows;
  for (size_t k = 0; k < c->n_labels; k++)
    width = scl_max(width, npy_characters(c->labels[k]));
  uint32_t *wide = scl_allocate_zero((rows * width + 1) * sizeof *wide);
  if (wide == NULL) return scl_fail_memory(error, rows * width * sizeof *wide, "labels");
  for (size_t i = 0; i < rows; i++)
    npy_widen(c->labels[(size_t)scl_matrix_get(c->y, i, 0) - 1], wide + i * width);
  (void)snprintf(type, sizeof type, "U%zu", width);
  add(p, "y.npy", type, 1, rows, 1, wide, rows * width * sizeof *wide, wide);
  return SCL_STATUS_OK;
}

/* A matrix, packed. */
static scl_status add_matrix(npz_parts *p, const char *name, const scl_matrix *a, bool list,
                             scl_error *error) {
  const size_t size = scl_dtype_size(a->dtype), bytes = a->rows * a->cols * size;
  void *packed = NULL;
  if (a->col_stride != 1 || a->row_stride != (ptrdiff_t)a->cols) {
    packed = scl_allocate(bytes + 1);
    if (packed == NULL) return scl_fail_memory(error, bytes, "a matrix");
    for (size_t i = 0; i < a->rows; i++)
      for (size_t j = 0; j < a->cols; j++)
        scl_set_number(packed, a->dtype, i * a->cols + j, scl_matrix_get(a, i, j));
  }
  add(p, name, a->dtype == SCL_DTYPE_FLOAT64 ? "f8" : "f4", list ? 1 : 2, a->rows, a->cols,
      packed != NULL ? packed : a->data, bytes, packed);
  return SCL_STATUS_OK;
}

/* The members of scipy's CSR. Row starts are of 4 bytes where the numbers can be counted so, as
 * scipy has them. */
static scl_status add_csr(npz_parts *p, const scl_csr *a, scl_error *error) {
  const size_t entries = scl_csr_entries(a), size = scl_dtype_size(a->dtype);
  const int64_t first = a->rows == 0 ? 0 : a->starts[0];
  const bool narrow = entries <= INT32_MAX;
  void *starts = scl_allocate_array(a->rows + 1, narrow ? 4 : 8);
  if (starts == NULL) return scl_fail_memory(error, (a->rows + 1) * 8, "row starts");
  for (size_t i = 0; i <= a->rows; i++) {
    const int64_t start = a->rows == 0 ? 0 : a->starts[i] - first;
    if (narrow)
      ((int32_t *)starts)[i] = (int32_t)start;
    else
      ((int64_t *)starts)[i] = start;
  }
  p->shape[0] = (int64_t)a->rows;
  p->shape[1] = (int64_t)a->cols;
  add(p, "indices.npy", "i4", 1, entries, 1, a->columns + first, entries * sizeof *a->columns,
      NULL);
  add(p, "indptr.npy", narrow ? "i4" : "i8", 1, a->rows + 1, 1, starts,
      (a->rows + 1) * (narrow ? 4 : 8), starts);
  add(p, "format.npy", "S3", 0, 1, 1, "csr", 3, NULL);
  add(p, "shape.npy", "i8", 1, 2, 1, p->shape, sizeof p->shape, NULL);
  add(p, "data.npy", a->dtype == SCL_DTYPE_FLOAT64 ? "f8" : "f4", 1, entries, 1,
      (const char *)a->values + (size_t)first * size, entries * size, NULL);
  return SCL_STATUS_OK;
}

static scl_status add_all(npz_parts *p, const scl_npz_content *c, scl_error *error) {
  SCL_TRY(c->x != NULL ? add_csr(p, c->x, error) : add_matrix(p, "X.npy", c->dense, false, error));
  if (c->y == NULL) return SCL_STATUS_OK;
  return c->labels != NULL ? add_texts(p, c, error)
                           : add_matrix(p, "y.npy", c->y, c->y->cols == 1, error);
}

scl_status scl_npz_write(const scl_npz_content *content, const char *path, scl_error *error) {
  npz_parts p = {0};
  scl_output *output;
  scl_status status = add_all(&p, content, error);
  if (status == SCL_STATUS_OK) status = scl_output_open(path, &output, error);
  if (status == SCL_STATUS_OK) {
    scl_zip_write(output, p.list, p.count);
    status = scl_output_commit(output, error);
  }
  for (size_t k = 0; k < p.count; k++)
    scl_release(p.owned[k]);
  return status;
}
