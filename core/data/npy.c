#define _POSIX_C_SOURCE 200809L
#include "data/npy.h"

#include "data/input.h"
#include "data/npy_internal.h"
#include "data/output.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 8192 }; /* numbers decoded at a time */

static scl_status cut_off(const char *path, const npy_layout *l, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: the file is cut off: it ends before its %zu x %zu numbers do", path, l->rows,
                  l->cols);
}

static scl_status read_header(scl_input *input, const char *path, npy_layout *out,
                              scl_error *error) {
  char *bytes = scl_allocate(NPY_PREFIX + NPY_LONGEST + 1);
  size_t got = 0, more = 0, size = 0;
  if (bytes == NULL) return scl_fail_memory(error, NPY_LONGEST, "a header");
  scl_status status = scl_input_read(input, bytes, NPY_PREFIX, &got, error);
  if (status == SCL_STATUS_OK) status = npy_header_size(path, bytes, got, &size, error);
  if (status == SCL_STATUS_OK && size < NPY_PREFIX)
    status = scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the .npy header is damaged", path);
  if (status == SCL_STATUS_OK)
    status = scl_input_read(input, bytes + got, size - got, &more, error);
  if (status == SCL_STATUS_OK && got + more != size)
    status = scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the .npy header is cut off", path);
  if (status == SCL_STATUS_OK) {
    bytes[size] = 0;
    status = npy_parse_header(path, bytes, size, out, error);
  }
  scl_release(bytes);
  return status;
}

/* A damaged header must not ask for memory that the file cannot fill: deflate packs at most 1032 to
 * 1. */
static scl_status check_size(const char *path, const npy_layout *l, scl_error *error) {
  struct stat file;
  const double wanted = (double)l->rows * (double)l->cols * (double)l->size;
  if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return SCL_STATUS_OK;
  return wanted > 1040.0 * (double)file.st_size ? cut_off(path, l, error) : SCL_STATUS_OK;
}

static scl_status read_numbers(scl_input *input, const char *path, const npy_layout *l,
                               scl_matrix *out, scl_error *error) {
  unsigned char bytes[BLOCK * 8];
  double values[BLOCK];
  size_t total = l->rows * l->cols, got = 0;
  if (npy_is_native(l, out->dtype) && !l->by_column) {
    SCL_TRY(scl_input_read(input, out->data, total * l->size, &got, error));
    return got == total * l->size ? SCL_STATUS_OK : cut_off(path, l, error);
  }
  for (size_t done = 0, count; done < total; done += count) {
    count = scl_min(BLOCK, total - done);
    SCL_TRY(scl_input_read(input, bytes, count * l->size, &got, error));
    if (got != count * l->size) return cut_off(path, l, error);
    npy_decode(l, bytes, count, values);
    for (size_t k = 0; k < count; k++) {
      const size_t place = done + k;
      if (l->by_column)
        scl_matrix_set(out, place % l->rows, place / l->rows, values[k]);
      else
        scl_matrix_set(out, place / l->cols, place % l->cols, values[k]);
    }
  }
  return SCL_STATUS_OK;
}

static scl_status read_array(scl_input *input, const char *path, scl_matrix *out,
                             scl_error *error) {
  npy_layout l = {0};
  char byte;
  size_t got = 0;
  SCL_TRY(read_header(input, path, &l, error));
  SCL_TRY(check_size(path, &l, error));
  SCL_TRY(scl_matrix_create_raw(
      l.rows, l.cols, l.kind == 'f' && l.size == 4 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64, out,
      error));
  SCL_TRY(read_numbers(input, path, &l, out, error));
  SCL_TRY(scl_input_read(input, &byte, 1, &got, error));
  return got == 0
             ? SCL_STATUS_OK
             : scl_fail(error, SCL_STATUS_BAD_DATA,
                        "%s: the file goes on after its %zu x %zu numbers", path, l.rows, l.cols);
}

scl_status scl_npy_read(const char *path, scl_matrix *out, scl_error *error) {
  scl_input *input;
  memset(out, 0, sizeof *out);
  SCL_TRY(scl_input_open(path, &input, error));
  const scl_status status = read_array(input, path, out, error);
  scl_input_close(input);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

/* ---------------------------------------------------------------- writing */

static size_t make_header(const scl_matrix *a, char header[192]) {
  const int used = snprintf(
      header + 10, 150, "{'descr': '%cf%c', 'fortran_order': False, 'shape': (%zu, %zu), }",
      npy_big_endian() ? '>' : '<', a->dtype == SCL_DTYPE_FLOAT64 ? '8' : '4', a->rows, a->cols);
  const size_t total = ((size_t)used + 10 + 1 + 63) / 64 * 64,
               size = total - 10; /* numbers begin at a multiple of 64 */
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)(size & 0xff);
  header[9] = (char)(size >> 8);
  memset(header + 10 + used, ' ', total - 10 - (size_t)used - 1);
  header[total - 1] = '\n';
  return total;
}

/* Row by row, packed where the rows are not. */
static void write_rows(scl_output *output, const scl_matrix *a, char *row) {
  const size_t bytes = a->cols * scl_dtype_size(a->dtype);
  for (size_t i = 0; i < a->rows; i++) {
    if (a->dtype == SCL_DTYPE_FLOAT64)
      for (size_t j = 0; j < a->cols; j++)
        ((double *)(void *)row)[j] = scl_matrix_get(a, i, j);
    else
      for (size_t j = 0; j < a->cols; j++)
        ((float *)(void *)row)[j] = (float)scl_matrix_get(a, i, j);
    scl_output_write(output, row, bytes);
  }
}

scl_status scl_npy_write(const scl_matrix *a, const char *path, scl_error *error) {
  char header[192];
  scl_output *output;
  const size_t length = make_header(a, header), size = scl_dtype_size(a->dtype);
  char *row = scl_allocate_array(a->cols + 1, size);
  if (row == NULL) return scl_fail_memory(error, a->cols * size, "a row");
  scl_status status = scl_output_open(path, &output, error);
  if (status == SCL_STATUS_OK) {
    scl_output_write(output, header, length);
    if (a->col_stride == 1 && a->row_stride == (ptrdiff_t)a->cols)
      scl_output_write(output, a->data, a->rows * a->cols * size);
    else
      write_rows(output, a, row);
    status = scl_output_commit(output, error);
  }
  scl_release(row);
  return status;
}
