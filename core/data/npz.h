/* NumPy's .npz, a zip file of .npy files, and sparse matrices as scipy.sparse.save_npz writes them:
 * members format, shape, data, indices and indptr (csr, csc) or row and col (coo). */
#ifndef SCULLERY_NPZ_H
#define SCULLERY_NPZ_H

#include "algebra/csr.h"

typedef struct scl_npz scl_npz;

scl_status scl_npz_open(const char *path, scl_npz **out, scl_error *error);
/* The arrays by their names, without ".npy"; NULL past the last. */
const char *scl_npz_name(const scl_npz *npz, size_t k);
/* Whether the file has the members of a sparse matrix. */
bool scl_npz_is_sparse(const scl_npz *npz);

/* An array: numbers of at most two dimensions as a matrix, or texts. */
typedef struct scl_npz_array {
  scl_matrix numbers; /* empty: texts */
  char **texts;       /* UTF-8 */
  size_t count;       /* of texts */
} scl_npz_array;
scl_status scl_npz_read(scl_npz *npz, const char *name, scl_npz_array *out, scl_error *error);
void scl_npz_array_release(scl_npz_array *array);

/* The sparse matrix, checked, its columns sorted; stored zeros stay. Several numbers of one place are
 * refused. */
scl_status scl_npz_csr(scl_npz *npz, scl_csr *out, scl_error *error);
/* npz may be NULL. */
void scl_npz_close(scl_npz *npz);

/* Write a file, whole or not at all: x as scipy's CSR, or else `dense` as the array X; and y as the
 * array y unless it is NULL: numbers, or where `labels` is not NULL the texts labels[y - 1]. */
typedef struct scl_npz_content {
  const scl_csr *x;
  const scl_matrix *dense, *y;
  const char *const *labels;
  size_t n_labels;
} scl_npz_content;
scl_status scl_npz_write(const scl_npz_content *content, const char *path, scl_error *error);

#endif
