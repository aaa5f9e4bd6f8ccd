/* Rows of .npy files from disk, in any order. */
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"
#include "data/npy.h"
#include "data/npy_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct array_file {
  char *path;
  int descriptor;
  npy_layout layout;
} array_file;

typedef struct npy_source {
  scl_source base;
  array_file x, y;
} npy_source;

static scl_status read_bytes(const array_file *a, size_t from, size_t count, void *to,
                             scl_error *error) {
  for (size_t done = 0; done < count;) {
    const ssize_t got = pread(a->descriptor, (char *)to + done, count - done, (off_t)(from + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return scl_fail(error, SCL_STATUS_IO, "%s: cannot be read: %s", a->path, strerror(errno));
    if (got == 0) return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file is cut off", a->path);
    done += (size_t)got;
  }
  return SCL_STATUS_OK;
}

static scl_status read_header(array_file *a, size_t length, scl_error *error) {
  char prefix[NPY_PREFIX];
  size_t size;
  SCL_TRY(read_bytes(a, 0, scl_min(length, NPY_PREFIX), prefix, error));
  if (length >= 2 && memcmp(prefix, "\x1f\x8b", 2) == 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s: it is packed by gzip, and rows stream from plain .npy files", a->path);
  SCL_TRY(npy_header_size(a->path, prefix, scl_min(length, NPY_PREFIX), &size, error));
  if (size > length)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the .npy header is cut off", a->path);
  char *bytes = scl_allocate(size + 1);
  if (bytes == NULL) return scl_fail_memory(error, size, "a header");
  scl_status status = read_bytes(a, 0, size, bytes, error);
  bytes[size] = 0;
  if (status == SCL_STATUS_OK) status = npy_parse_header(a->path, bytes, size, &a->layout, error);
  scl_release(bytes);
  return status;
}

static scl_status open_array(const char *path, array_file *a, scl_error *error) {
  struct stat file;
  const npy_layout *l = &a->layout;
  a->path = scl_copy_text(path);
  if (a->path == NULL) return scl_fail_memory(error, strlen(path), "a path");
  if (stat(path, &file) != 0)
    return scl_fail(error, SCL_STATUS_IO, "%s: %s", path,
                    errno == ENOENT ? "no such file" : strerror(errno));
  if (!S_ISREG(file.st_mode))
    return scl_fail(error, SCL_STATUS_IO, "%s: this is a %s, not a file", path,
                    S_ISDIR(file.st_mode) ? "folder" : "pipe or device");
  a->descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (a->descriptor < 0)
    return scl_fail(error, SCL_STATUS_IO, "%s: cannot be read: %s", path, strerror(errno));
  SCL_TRY(read_header(a, (size_t)file.st_size, error));
  if (l->by_column)
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "%s: it is stored by columns (Fortran order), and rows stream from arrays in C order",
        path);
  const size_t wanted = l->data_at + l->rows * l->cols * l->size;
  if ((size_t)file.st_size != wanted)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: the file has %zu bytes where its header (%zu x %zu) says %zu: it is %s",
                    path, (size_t)file.st_size, l->rows, l->cols, wanted,
                    (size_t)file.st_size < wanted ? "cut off" : "too long");
  return SCL_STATUS_OK;
}

/* Rows as they stand in the file, straight to where they are wanted. */
static scl_status read_native(const array_file *a, size_t first, size_t count, const scl_matrix *to,
                              scl_error *error) {
  const size_t row = a->layout.cols * a->layout.size, from = a->layout.data_at + first * row;
  if (to->row_stride == (ptrdiff_t)to->cols)
    return read_bytes(a, from, count * row, to->data, error);
  for (size_t i = 0; i < count; i++)
    SCL_TRY(read_bytes(a, from + i * row, row,
                       (char *)to->data + (ptrdiff_t)i * to->row_stride * (ptrdiff_t)a->layout.size,
                       error));
  return SCL_STATUS_OK;
}

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
    status = read_bytes(a, l->data_at + (first + i) * row, row, bytes, error);
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
  if (a->descriptor >= 0) (void)close(a->descriptor);
  scl_release(a->path);
}

static void npy_source_destroy(scl_source *source) {
  npy_source *s = (npy_source *)source;
  close_array(&s->x);
  close_array(&s->y);
  scl_release(s);
}

static const scl_source_class npy_source_class = {npy_source_read, npy_source_destroy};

scl_status scl_npy_stream(const char *x_path, const char *y_path, scl_source **out,
                          scl_error *error) {
  npy_source *s = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a stream");
  s->x.descriptor = s->y.descriptor = -1;
  scl_status status = open_array(x_path, &s->x, error);
  if (status == SCL_STATUS_OK && y_path != NULL) status = open_array(y_path, &s->y, error);
  if (status == SCL_STATUS_OK && y_path != NULL && s->y.layout.rows != s->x.layout.rows)
    status = scl_fail(error, SCL_STATUS_BAD_SHAPE, "%s has %zu rows, and %s has %zu", x_path,
                      s->x.layout.rows, y_path, s->y.layout.rows);
  s->base = (scl_source){&npy_source_class,
                         s->x.layout.rows,
                         s->x.layout.cols,
                         y_path == NULL ? 0 : s->y.layout.cols,
                         true,
                         true};
  if (status == SCL_STATUS_OK)
    *out = &s->base;
  else
    npy_source_destroy(&s->base);
  return status;
}
