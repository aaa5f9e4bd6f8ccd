/* Rows of a file in its order, each read once, in flat memory: from a file, a pipe, or "-" for the
 * standard input; gzip is known by its first bytes. (Of CSV: data/csv/csv.h, as those go by a
 * schema.) */
#ifndef SCULLERY_ROW_BLOCKS_H
#define SCULLERY_ROW_BLOCKS_H

#include "algebra/matrix.h"

typedef struct scl_row_blocks scl_row_blocks;

typedef struct scl_row_blocks_class {
  scl_status (*next)(scl_row_blocks *blocks, scl_matrix *x, scl_error *error);
  void (*close)(scl_row_blocks *blocks);
} scl_row_blocks_class;

struct scl_row_blocks {
  const scl_row_blocks_class *of;
};

/* NumPy's .npy, of `cols` columns. An array stored by columns comes as one block. */
scl_status scl_npy_blocks_open(const char *path, size_t cols, scl_row_blocks **out,
                               scl_error *error);
/* LIBSVM text, into `cols` columns; labels are passed over. */
scl_status scl_libsvm_blocks_open(const char *path, size_t cols, scl_row_blocks **out,
                                  scl_error *error);

/* The next rows into x, which the caller destroys; no storage: the file has ended. */
static inline scl_status scl_row_blocks_next(scl_row_blocks *blocks, scl_matrix *x,
                                             scl_error *error) {
  *x = (scl_matrix){0};
  const scl_status status = blocks->of->next(blocks, x, error);
  if (status != SCL_STATUS_OK) scl_matrix_release(x);
  return status;
}

/* blocks may be NULL. */
static inline void scl_row_blocks_close(scl_row_blocks *blocks) {
  if (blocks != NULL) blocks->of->close(blocks);
}

#endif
