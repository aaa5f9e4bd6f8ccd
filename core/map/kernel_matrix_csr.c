/* A kernel between sparse rows of data. */
#include "base/pool.h"
#include "map/map_internal.h"
#include "plugin/kernel.h"
#include <string.h>

enum { STRIP = 256 }; /* rows of X for each task */

typedef struct csr_strips {
  const scl_instance *kernel;
  const scl_csr *x;
  const scl_pair_set *set;
  const scl_matrix *out;
} csr_strips;

static scl_status fill_strip(void *context, size_t index, scl_error *error) {
  const csr_strips *job = context;
  const size_t first = index * STRIP;
  scl_csr rows = *job->x; /* borrowed */
  rows.starts += first;
  rows.rows = scl_min(STRIP, rows.rows - first);
  return scl_kernel_gram_csr(job->kernel, &rows, job->set, 0, job->out->cols,
                             scl_matrix_row(job->out, first), job->out->row_stride, error);
}

static scl_status by_numbers(const scl_instance *kernel, const scl_csr *x, const scl_csr *y,
                             scl_matrix *out, scl_error *error) {
  scl_pair_set *set = NULL;
  SCL_TRY(scl_kernel_pair_set_csr(kernel, y, &set, error));
  csr_strips job = {kernel, x, set, out};
  const scl_status status = scl_pool_try((x->rows + STRIP - 1) / STRIP, fill_strip, &job, error);
  scl_pair_set_destroy(set);
  const scl_kernel_values values = {.kernel = kernel,
                                    .left = "row",
                                    .right = "row",
                                    .rows = out->rows,
                                    .cols = out->cols,
                                    .values = out->data,
                                    .stride = out->row_stride};
  return status == SCL_STATUS_OK ? scl_kernel_check_values(&values, error) : status;
}

/* *out = rows first .. first+count-1 with their zeros. */
static scl_status made_dense(const scl_csr *a, size_t first, size_t count, scl_matrix *out,
                             scl_error *error) {
  SCL_TRY(scl_matrix_create_raw(count, a->cols, SCL_DTYPE_FLOAT64, out, error));
  scl_csr_fill(a, first, count, SCL_DTYPE_FLOAT64, out->data, out->row_stride);
  return SCL_STATUS_OK;
}

/* The rectangle of rows from i and columns from j, of at most `most` rows each. */
static scl_status fill_dense(const scl_instance *kernel, const scl_csr *x, const scl_csr *y,
                             size_t i, size_t j, size_t most, scl_matrix *out, scl_error *error) {
  scl_matrix u = {0}, v = {0}, k = {0};
  scl_status status = made_dense(x, i, scl_min(most, x->rows - i), &u, error);
  if (status == SCL_STATUS_OK) status = made_dense(y, j, scl_min(most, y->rows - j), &v, error);
  if (status == SCL_STATUS_OK) status = scl_kernel_matrix(kernel, &u, &v, &k, error);
  for (size_t row = 0; status == SCL_STATUS_OK && row < k.rows; row++)
    memcpy((double *)scl_matrix_row(out, i + row) + j, scl_matrix_row(&k, row),
           k.cols * sizeof(double));
  scl_matrix_release(&u);
  scl_matrix_release(&v);
  scl_matrix_release(&k);
  return status;
}

scl_status scl_kernel_matrix_csr(const scl_instance *kernel, const scl_csr *x, const scl_csr *y,
                                 scl_matrix *out, scl_error *error) {
  SCL_TRY(scl_kernel_check_rows(kernel, x->cols, y->cols, error));
  SCL_TRY(scl_matrix_create_raw(x->rows, y->rows, SCL_DTYPE_FLOAT64, out, error));
  scl_status status = SCL_STATUS_OK;
  if (scl_kernel_takes_csr(kernel)) {
    status = by_numbers(kernel, x, y, out, error);
  } else {
    const size_t most = scl_csr_dense_rows(x->cols, SCL_DTYPE_FLOAT64);
    for (size_t i = 0; status == SCL_STATUS_OK && i < x->rows; i += most)
      for (size_t j = 0; status == SCL_STATUS_OK && j < y->rows; j += most)
        status = fill_dense(kernel, x, y, i, j, most, out, error);
  }
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}
