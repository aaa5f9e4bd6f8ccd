#include "data/npy.h"

#include "data/files/input.h"
#include "data/files/output.h"
#include "data/npy_internal.h"
#include <stdio.h>
#include <string.h>

enum { BLOCK = 8192 }; /* numbers decoded at a time */

static scl_status cut_off(const char *path, const npy_layout *l, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: the file is cut off: it ends before its %zu x %zu numbers do", path, l->rows,
                  l->cols);
}

scl_status npy_read_header(scl_input *input, const char *path, npy_layout *out, scl_error *error) {
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

scl_status npy_check_size(const scl_input *input, const char *path, const npy_layout *l,
                          scl_error *error) {
  const double wanted = (double)l->rows * (double)l->cols * (double)l->size;
  if (wanted > (double)scl_input_most(input)) return cut_off(path, l, error);
  return scl_input_admit(input, (double)l->data_at + wanted, error);
}

scl_status npy_read_rows(scl_input *input, const char *path, const npy_layout *l, size_t rows,
                         scl_matrix *out, scl_error *error) {
  unsigned char bytes[BLOCK * 8];
  double values[BLOCK];
  size_t total = rows * l->cols, got = 0;
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

scl_status npy_read_end(scl_input *input, const char *path, const npy_layout *l, scl_error *error) {
  char byte;
  size_t got = 0;
  SCL_TRY(scl_input_read(input, &byte, 1, &got, error));
  return got == 0
             ? SCL_STATUS_OK
             : scl_fail(error, SCL_STATUS_BAD_DATA,
                        "%s: the file goes on after its %zu x %zu numbers", path, l->rows, l->cols);
}

static scl_status read_array(scl_input *input, const char *path, scl_matrix *out,
                             scl_error *error) {
  npy_layout l = {0};
  SCL_TRY(npy_read_header(input, path, &l, error));
  SCL_TRY(npy_check_size(input, path, &l, error));
  SCL_TRY(scl_matrix_create_raw(l.rows, l.cols, npy_dtype(&l), out, error));
  SCL_TRY(npy_read_rows(input, path, &l, l.rows, out, error));
  return npy_read_end(input, path, &l, error);
}

scl_status scl_npy_read(const char *path, size_t unpacked, scl_matrix *out, scl_error *error) {
  scl_input *input;
  memset(out, 0, sizeof *out);
  SCL_TRY(scl_input_open(path, &input, error));
  scl_input_set_bound(input, unpacked);
  const scl_status status = read_array(input, path, out, error);
  scl_input_close(input);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

/* ---------------------------------------------------------------- writing */

void npy_make_header(const char *type, size_t rows, size_t cols, bool list,
                     char header[NPY_HEADER]) {
  char shape[64], text[NPY_HEADER + 64];
  if (list)
    (void)snprintf(shape, sizeof shape, "(%zu,)", rows);
  else
    (void)snprintf(shape, sizeof shape, "(%zu, %zu)", rows, cols);
  const int used =
      snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
               npy_big_endian() ? '>' : '<', type, shape);
  memset(header, ' ', NPY_HEADER);                 /* numbers begin at a multiple of 64 */
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10); /* 0x76: what follows these 10 bytes */
  memcpy(header + 10, text, (size_t)used);
  header[NPY_HEADER - 1] = '\n';
}

/* Row by row, packed where the rows are not. */
static void write_rows(scl_output *output, const scl_matrix *a, char *row) {
  const size_t bytes = a->cols * scl_dtype_size(a->dtype);
  for (size_t i = 0; i < a->rows && !scl_output_failed(output); i++) {
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
  char header[NPY_HEADER];
  scl_output *output;
  const size_t size = scl_dtype_size(a->dtype);
  char *row = scl_allocate_array(a->cols + 1, size);
  npy_make_header(a->dtype == SCL_DTYPE_FLOAT64 ? "f8" : "f4", a->rows, a->cols, false, header);
  if (row == NULL) return scl_fail_memory(error, a->cols * size, "a row");
  scl_status status = scl_output_open(path, &output, error);
  if (status == SCL_STATUS_OK) {
    scl_output_write(output, header, NPY_HEADER);
    if (a->col_stride == 1 && a->row_stride == (ptrdiff_t)a->cols)
      scl_output_write(output, a->data, a->rows * a->cols * size);
    else
      write_rows(output, a, row);
    status = scl_output_commit(output, error);
  }
  scl_release(row);
  return status;
}
