/* Rows of a .npy file, read once. */
#include "base/text.h"
#include "data/npy_internal.h"
#include "data/row_blocks.h"

#include <string.h>

enum { BLOCK_BYTES = SCL_BUFFER(1 << 22) };

typedef struct npy_blocks {
  scl_row_blocks base;
  char *path;
  scl_input *input;
  npy_layout layout;
  size_t done; /* rows */
} npy_blocks;

static scl_status next(scl_row_blocks *blocks, scl_matrix *x, scl_error *error) {
  npy_blocks *b = (npy_blocks *)blocks;
  const npy_layout *l = &b->layout;
  const size_t left = l->rows - b->done, fit = BLOCK_BYTES / (scl_max(l->cols, 1) * 8);
  const size_t rows = l->by_column ? left : scl_min(left, scl_max(fit, 1));
  if (left == 0) return npy_read_end(b->input, b->path, l, error);
  if (l->by_column) SCL_TRY(npy_check_size(b->input, b->path, l, error));
  SCL_TRY(scl_matrix_create_raw(rows, l->cols, npy_dtype(l), x, error));
  b->done += rows;
  return npy_read_rows(b->input, b->path, l, rows, x, error);
}

static void close_blocks(scl_row_blocks *blocks) {
  npy_blocks *b = (npy_blocks *)blocks;
  scl_input_close(b->input);
  SCL_RELEASE(b->path, b);
}

static const scl_row_blocks_class npy_class = {next, close_blocks};

scl_status scl_npy_blocks_open(const char *path, size_t cols, scl_row_blocks **out,
                               scl_error *error) {
  npy_blocks *b = scl_allocate_zero(sizeof *b);
  if (b == NULL) return scl_fail_memory(error, sizeof *b, "a file");
  b->base.of = &npy_class;
  b->path = scl_copy_text(path);
  scl_status status = b->path == NULL ? scl_fail_memory(error, strlen(path), "a path")
                                      : scl_input_open(path, &b->input, error);
  if (status == SCL_STATUS_OK) status = npy_read_header(b->input, path, &b->layout, error);
  if (status == SCL_STATUS_OK && b->layout.cols != cols)
    status = scl_fail(error, SCL_STATUS_BAD_SHAPE,
                      "%s: it has %zu columns, and the model was fitted on %zu", path,
                      b->layout.cols, cols);
  if (status == SCL_STATUS_OK)
    *out = &b->base;
  else
    close_blocks(&b->base);
  return status;
}
