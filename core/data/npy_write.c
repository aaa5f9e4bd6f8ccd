/* Writes .npy files (version 1.0, C order), and makes their headers for row_file.c. */
#include "data/files/output.h"
#include "data/npy.h"
#include "data/npy_internal.h"
#include <stdio.h>
#include <string.h>

/* The header is padded to NPY_HEADER bytes, so that it can be written again once the number of rows
 * is known. */
void npy_make_header(const char *type, unsigned dimensions, size_t rows, size_t cols,
                     char header[NPY_HEADER]) {
  char shape[64] = "()", text[NPY_HEADER + 64];
  if (dimensions == 1) (void)snprintf(shape, sizeof shape, "(%zu,)", rows);
  if (dimensions == 2) (void)snprintf(shape, sizeof shape, "(%zu, %zu)", rows, cols);
  const int used =
      snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
               npy_big_endian() ? '>' : '<', type, shape);
  memset(header, ' ', NPY_HEADER);                 /* numbers begin at a multiple of 64 */
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10); /* 0x76: what follows these 10 bytes */
  memcpy(header + 10, text, (size_t)used);
  header[NPY_HEADER - 1] = '\n';
}

/* ------------ texts */

/* The next character of UTF-8. A byte that is not part of valid UTF-8 stands for itself. */
static uint32_t next_character(const char **at) {
  const unsigned char *s = (const unsigned char *)*at;
  const size_t more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
  uint32_t code = more == 0 ? s[0] : s[0] & (0x3fu >> more);
  for (size_t i = 1; i <= more; i++) {
    if ((s[i] & 0xc0) != 0x80) {
      (*at)++;
      return s[0];
    }
    code = code << 6 | (s[i] & 0x3fu);
  }
  *at += more + 1;
  return code;
}

size_t npy_characters(const char *text) {
  size_t count = 0;
  for (; *text != 0; count++)
    (void)next_character(&text);
  return count;
}

void npy_widen(const char *text, uint32_t *to) {
  while (*text != 0)
    *to++ = next_character(&text);
}

/* ------------ numbers */

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
  npy_make_header(a->dtype == SCL_DTYPE_FLOAT64 ? "f8" : "f4", 2, a->rows, a->cols, header);
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
