/* Rows of a .npy file in its order: whole, as one block, or once, in flat memory. */
#include "base/text.h"
#include "data/npy.h"
#include "data/npy_internal.h"
#include "data/shares.h"
#include "processes/processes.h"

#include <string.h>

enum {
  BLOCK_BYTES = SCL_BUFFER(1 << 22),
  BLOCK = 8192 /* numbers decoded at a time */
};

static scl_status cut_off(const char *path, const npy_layout *l, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: the file is cut off: it ends before its %zu x %zu numbers do", path, l->rows,
                  l->cols);
}

scl_status npy_read_header(const npy_bytes *from, bool texts, npy_layout *out, scl_error *error) {
  const char *path = from->path;
  char *bytes = scl_allocate(NPY_PREFIX + NPY_LONGEST + 1);
  size_t got = 0, more = 0, size = 0;
  if (bytes == NULL) return scl_fail_memory(error, NPY_LONGEST, "a header");
  scl_status status = from->read(from->from, bytes, NPY_PREFIX, &got, error);
  if (status == SCL_STATUS_OK) status = npy_header_size(path, bytes, got, &size, error);
  if (status == SCL_STATUS_OK && size < NPY_PREFIX)
    status = scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the .npy header is damaged", path);
  if (status == SCL_STATUS_OK)
    status = from->read(from->from, bytes + got, size - got, &more, error);
  if (status == SCL_STATUS_OK && got + more != size)
    status = scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the .npy header is cut off", path);
  if (status == SCL_STATUS_OK) {
    bytes[size] = 0;
    status = npy_parse_header(path, bytes, size, texts, out, error);
  }
  scl_release(bytes);
  return status;
}

/* A damaged header must not ask for memory that the file cannot fill. */
static scl_status check_size(const scl_input *input, const char *path, const npy_layout *l,
                             scl_error *error) {
  const double wanted = (double)l->rows * (double)l->cols * (double)l->size;
  if (wanted > (double)scl_input_most(input)) return cut_off(path, l, error);
  return scl_input_admit(input, (double)l->data_at + wanted, error);
}

/* Numbers whose bytes are those of the matrix are read without decoding. */
scl_status npy_read_numbers(const npy_bytes *from, const npy_layout *l, size_t first, size_t count,
                            const scl_matrix *out, scl_error *error) {
  const char *path = from->path;
  unsigned char bytes[BLOCK * 8];
  double values[BLOCK];
  size_t got = 0;
  if (npy_is_native(l, out->dtype) && !l->by_column) {
    char *to = (char *)out->data + first * l->size;
    SCL_TRY(from->read(from->from, to, count * l->size, &got, error));
    return got == count * l->size ? SCL_STATUS_OK : cut_off(path, l, error);
  }
  scl_matrix to = *out;
  for (const size_t end = first + count; first < end; first += count) {
    count = scl_min(BLOCK, end - first);
    SCL_TRY(from->read(from->from, bytes, count * l->size, &got, error));
    if (got != count * l->size) return cut_off(path, l, error);
    npy_decode(l, bytes, count, values);
    for (size_t k = 0; k < count; k++) {
      const size_t place = first + k;
      if (l->by_column)
        scl_matrix_set(&to, place % l->rows, place / l->rows, values[k]);
      else
        scl_matrix_set(&to, place / l->cols, place % l->cols, values[k]);
    }
  }
  return SCL_STATUS_OK;
}

/* Check that the file ends after the numbers. */
static scl_status read_end(scl_input *input, const char *path, const npy_layout *l,
                           scl_error *error) {
  char byte;
  size_t got = 0;
  SCL_TRY(scl_input_read(input, &byte, 1, &got, error));
  return got == 0
             ? SCL_STATUS_OK
             : scl_fail(error, SCL_STATUS_BAD_DATA,
                        "%s: the file goes on after its %zu x %zu numbers", path, l->rows, l->cols);
}

scl_dtype npy_dtype(const npy_layout *l) {
  return l->kind == 'f' && l->size == 4 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64;
}

/* ------------ a source */

typedef struct npy_rows {
  scl_source base;
  char *path;
  scl_input *input;
  npy_layout layout;
  bool whole;
  size_t done; /* rows */
} npy_rows;

static scl_status read_input(void *input, void *to, size_t size, size_t *got, scl_error *error) {
  return scl_input_read(input, to, size, got, error);
}

static npy_bytes bytes_of(const npy_rows *s) { return (npy_bytes){s->path, read_input, s->input}; }

static scl_status npy_rows_next(scl_source *source, scl_matrix *x, scl_matrix *y,
                                scl_error *error) {
  npy_rows *s = (npy_rows *)source;
  const npy_layout *l = &s->layout;
  const bool all = s->whole || l->by_column;
  const size_t left = l->rows - s->done, fit = BLOCK_BYTES / (scl_max(l->cols, 1) * 8);
  const size_t rows = all ? left : scl_min(left, scl_max(fit, 1));
  (void)y;
  if (left == 0) return read_end(s->input, s->path, l, error);
  if (all) SCL_TRY(check_size(s->input, s->path, l, error));
  SCL_TRY(scl_matrix_create_raw(rows, l->cols, npy_dtype(l), x, error));
  s->done += rows;
  const npy_bytes bytes = bytes_of(s);
  return npy_read_numbers(&bytes, l, 0, rows * l->cols, x, error);
}

static void npy_rows_destroy(scl_source *source) {
  npy_rows *s = (npy_rows *)source;
  scl_input_close(s->input);
  SCL_RELEASE(s->path, s);
}

static const scl_source_class npy_rows_class = {.next = npy_rows_next, .destroy = npy_rows_destroy};

/* *out may be destroyed after an error, too. */
static scl_status open_rows(const char *path, npy_rows **out, scl_error *error) {
  npy_rows *s = *out = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a file");
  s->base.class = &npy_rows_class;
  s->base.name = s->path = scl_copy_text(path);
  if (s->path == NULL) return scl_fail_memory(error, strlen(path), "a path");
  return scl_input_open(path, &s->input, error);
}

scl_status scl_npy_once(const char *path, size_t cols, scl_source **out, scl_error *error) {
  npy_rows *s;
  scl_status status = open_rows(path, &s, error);
  const npy_bytes bytes = status == SCL_STATUS_OK ? bytes_of(s) : (npy_bytes){0};
  if (status == SCL_STATUS_OK) status = npy_read_header(&bytes, false, &s->layout, error);
  if (status == SCL_STATUS_OK && s->layout.cols != cols)
    status = scl_fail(error, SCL_STATUS_BAD_SHAPE,
                      "%s: it has %zu columns, and the model was fitted on %zu", path,
                      s->layout.cols, cols);
  if (status == SCL_STATUS_OK) {
    s->base.cols = cols;
    *out = &s->base;
  } else if (s != NULL) {
    npy_rows_destroy(&s->base);
  }
  return status;
}

/* All rows as one block, and the check that nothing follows them. An array without rows has no
 * block. */
static scl_status read_whole(npy_rows *s, size_t unpacked, scl_matrix *out, scl_error *error) {
  const npy_layout *l = &s->layout;
  scl_matrix none;
  s->whole = true;
  scl_input_set_bound(s->input, unpacked);
  const npy_bytes bytes = bytes_of(s);
  SCL_TRY(npy_read_header(&bytes, false, &s->layout, error));
  if (l->rows > 0)
    SCL_TRY(scl_source_next(&s->base, out, NULL, error));
  else
    SCL_TRY(scl_matrix_create_raw(0, l->cols, npy_dtype(l), out, error));
  return scl_source_next(&s->base, &none, NULL, error);
}

/* The numbers of this process. */
static scl_status fill_share(void *context, const scl_matrix *all, scl_error *error) {
  npy_rows *s = context;
  const npy_layout *l = &s->layout;
  const npy_bytes bytes = bytes_of(s);
  size_t first, end;
  scl_processes_part(scl_processes_rank(), l->rows * l->cols, &first, &end);
  SCL_TRY(scl_input_seek(s->input, l->data_at + first * l->size, first / l->cols, error));
  SCL_TRY(npy_read_numbers(&bytes, l, first, end - first, all, error));
  return end < l->rows * l->cols ? SCL_STATUS_OK : read_end(s->input, s->path, l, error);
}

static scl_status read_together(const char *path, scl_matrix *out, bool *read, scl_error *error) {
  npy_rows *s;
  scl_status status = open_rows(path, &s, error);
  const npy_bytes bytes = status == SCL_STATUS_OK ? bytes_of(s) : (npy_bytes){0};
  npy_layout none = {0}, *l = s == NULL ? &none : &s->layout;
  if (status == SCL_STATUS_OK) status = npy_read_header(&bytes, false, l, error);
  if (status == SCL_STATUS_OK) status = check_size(s->input, path, l, error);
  status =
      scl_shares_matrix(status, l->rows, l->cols, npy_dtype(l), fill_share, s, out, read, error);
  if (s != NULL) npy_rows_destroy(&s->base);
  return status;
}

scl_status scl_npy_read(const char *path, size_t unpacked, bool together, scl_matrix *out,
                        scl_error *error) {
  npy_rows *s;
  bool read = false;
  memset(out, 0, sizeof *out);
  if (together) SCL_TRY(scl_shares_worth(&path, 1, &together, error));
  if (together) SCL_TRY(read_together(path, out, &read, error));
  if (read) return SCL_STATUS_OK;
  scl_status status = open_rows(path, &s, error);
  if (status == SCL_STATUS_OK) status = read_whole(s, unpacked, out, error);
  if (s != NULL) npy_rows_destroy(&s->base);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}
