/* Rows of .npy files from disk, in any order. */
#include "base/text.h"
#include "data/files/file.h"
#include "data/npy.h"
#include "data/npy_internal.h"

#include <string.h>

typedef struct array_file {
  char *path;
  scl_file file;
  npy_layout layout;
} array_file;

typedef struct npy_source {
  scl_source base;
  array_file x, y;
} npy_source;

/* Read the header of a file of `length` bytes into a->layout. */
static scl_status read_header(array_file *a, size_t length, scl_error *error) {
  char prefix[NPY_PREFIX];
  size_t size;
  SCL_TRY(scl_file_read_at(&a->file, 0, scl_min(length, NPY_PREFIX), prefix, error));
  if (length >= 2 && memcmp(prefix, "\x1f\x8b", 2) == 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s: it is packed by gzip, and rows stream from plain .npy files", a->path);
  SCL_TRY(npy_header_size(a->path, prefix, scl_min(length, NPY_PREFIX), &size, error));
  if (size > length)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the .npy header is cut off", a->path);
  char *bytes = scl_allocate(size + 1);
  if (bytes == NULL) return scl_fail_memory(error, size, "a header");
  scl_status status = scl_file_read_at(&a->file, 0, size, bytes, error);
  bytes[size] = 0;
  if (status == SCL_STATUS_OK)
    status = npy_parse_header(a->path, bytes, size, false, &a->layout, error);
  scl_release(bytes);
  return status;
}

/* Open a file in C order whose size is exactly what its header says. After an error, close_array
 * still releases it. */
static scl_status open_array(const char *path, array_file *a, scl_error *error) {
  const npy_layout *l = &a->layout;
  a->path = scl_copy_text(path);
  if (a->path == NULL) return scl_fail_memory(error, strlen(path), "a path");
  SCL_TRY(scl_file_open_regular(a->path, &a->file, error));
  const size_t size = a->file.size;
  SCL_TRY(read_header(a, size, error));
  if (l->by_column)
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "%s: it is stored by columns (Fortran order), and rows stream from arrays in C order",
        path);
  const size_t wanted = l->data_at + l->rows * l->cols * l->size;
  if (size != wanted)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: the file has %zu bytes where its header (%zu x %zu) says %zu: it is %s",
                    path, size, l->rows, l->cols, wanted, size < wanted ? "cut off" : "too long");
  return SCL_STATUS_OK;
}

/* Read rows whose bytes in the file are the numbers of the matrix, without a copy between. */
static scl_status read_native(const array_file *a, size_t first, size_t count, const scl_matrix *to,
                              scl_error *error) {
  const size_t row = a->layout.cols * a->layout.size, from = a->layout.data_at + first * row;
  if (to->row_stride == (ptrdiff_t)to->cols)
    return scl_file_read_at(&a->file, from, count * row, to->data, error);
  for (size_t i = 0; i < count; i++)
    SCL_TRY(scl_file_read_at(
        &a->file, from + i * row, row,
        (char *)to->data + (ptrdiff_t)i * to->row_stride * (ptrdiff_t)a->layout.size, error));
  return SCL_STATUS_OK;
}

/* Rows first .. first+count-1 into a matrix of any strides: straight from the file where the
 * bytes are its numbers, otherwise decoded row by row. */
static scl_status read_rows(const array_file *a, size_t first, size_t count, scl_matrix *to,
                            scl_error *error) {
  const npy_layout *l = &a->layout;
  const size_t row = l->cols * l->size;
  if (npy_is_native(l, to->dtype) && scl_matrix_is_rowwise(to))
    return read_native(a, first, count, to, error);
  unsigned char *bytes = scl_allocate(row + 1);
  double *values = scl_allocate_array(l->cols + 1, sizeof *values);
  scl_status status =
      bytes == NULL || values == NULL ? scl_fail_memory(error, row, "a row") : SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    status = scl_file_read_at(&a->file, l->data_at + (first + i) * row, row, bytes, error);
    if (status != SCL_STATUS_OK) break;
    npy_decode(l, bytes, l->cols, values);
    for (size_t j = 0; j < l->cols; j++)
      scl_matrix_set(to, i, j, values[j]);
  }
  scl_release(bytes);
  scl_release(values);
  return status;
}

static scl_status npy_source_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                                  scl_matrix *y, scl_error *error) {
  const npy_source *s = (const npy_source *)source;
  SCL_TRY(read_rows(&s->x, first, count, x, error));
  return y == NULL || s->base.targets == 0 ? SCL_STATUS_OK
                                           : read_rows(&s->y, first, count, y, error);
}

static void close_array(array_file *a) {
  scl_file_close(&a->file);
  scl_release(a->path);
}

static void npy_source_destroy(scl_source *source) {
  npy_source *s = (npy_source *)source;
  close_array(&s->x);
  close_array(&s->y);
  scl_release(s);
}

static const scl_source_class npy_source_class = {.read = npy_source_read,
                                                  .destroy = npy_source_destroy};

scl_status scl_npy_stream(const char *x_path, const char *y_path, scl_source **out,
                          scl_error *error) {
  npy_source *s = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a stream");
  s->x.file.descriptor = s->y.file.descriptor = -1;
  scl_status status = open_array(x_path, &s->x, error);
  if (status == SCL_STATUS_OK && y_path != NULL) status = open_array(y_path, &s->y, error);
  if (status == SCL_STATUS_OK && y_path != NULL && s->y.layout.rows != s->x.layout.rows)
    status = scl_fail(error, SCL_STATUS_BAD_SHAPE, "%s has %zu rows, and %s has %zu", x_path,
                      s->x.layout.rows, y_path, s->y.layout.rows);
  s->base = (scl_source){.class = &npy_source_class,
                         .rows = s->x.layout.rows,
                         .cols = s->x.layout.cols,
                         .targets = y_path == NULL ? 0 : s->y.layout.cols,
                         .random_access = true,
                         .parallel = true};
  if (status == SCL_STATUS_OK)
    *out = &s->base;
  else
    npy_source_destroy(&s->base);
  return status;
}
