/* Thin products of blocks of rows with few columns; general products for more columns. */
#include "algebra/thin.h"

#include "algebra/dense.h"
#include "algebra/row_products.h"
#include "base/loops.h"
#include "base/pool.h"
#include <string.h>

/* Rows (product) or columns (adjoint) of a task. */
enum { TASK_ROWS = 16, TASK_COLUMNS = 256 };

/* in (count x k) in the dtype of the rows, as k x count if `transposed`; the caller releases it.
 * NULL: no memory, and the error is set. */
static void *convert_numbers(const scl_thin *thin, const double *in, size_t count, bool transposed,
                             scl_error *error) {
  const size_t k = thin->k, size = scl_dtype_size(thin->dtype);
  const bool same_order = !transposed || k == 1;
  void *out = same_order ? scl_convert(in, count * k, thin->dtype)
                         : scl_allocate_array(count * k + 1, size);
  if (out == NULL) (void)scl_fail_memory(error, count * k * size, "a product");
  if (out == NULL || same_order) return out;
  for (size_t q = 0; q < k; q++)
    for (size_t i = 0; i < count; i++)
      scl_set_number(out, thin->dtype, q * count + i, in[i * k + q]);
  return out;
}

scl_status scl_thin_open(scl_dtype dtype, size_t cols, const double *a, size_t k, scl_thin *out,
                         scl_error *error) {
  const size_t numbers = cols * k;
  *out = (scl_thin){.dtype = dtype, .cols = cols, .k = k, .general = k > SCL_THIN_COLUMNS};
  out->sums = scl_allocate_zero((numbers + 1) * sizeof *out->sums);
  if (out->sums == NULL) return scl_fail_memory(error, numbers * sizeof *out->sums, "a product");
  if (a == NULL) return SCL_STATUS_OK;
  out->a = convert_numbers(out, a, cols, !out->general, error);
  if (out->a != NULL) return SCL_STATUS_OK;
  scl_thin_close(out);
  return SCL_STATUS_NO_MEMORY;
}

void scl_thin_close(scl_thin *thin) {
  scl_release(thin->a);
  scl_release(thin->sums);
  *thin = (scl_thin){0};
}

/* ------------ Phi a */

typedef struct thin_job {
  const scl_thin *thin;
  size_t rows;
  const char *phi;
  ptrdiff_t stride;
  const void *r; /* rows x k in dtype */
  double *out;
} thin_job;

/* A task of the pool: TASK_ROWS rows of Phi a. */
static void product_task(void *context, size_t index) {
  const thin_job *job = context;
  const scl_thin *t = job->thin;
  const scl_loops *loops = scl_loops_get();
  const size_t first = index * TASK_ROWS, rows = scl_min(TASK_ROWS, job->rows - first),
               size = scl_dtype_size(t->dtype);
  const void *phi = job->phi + (ptrdiff_t)first * job->stride * (ptrdiff_t)size;
  const ptrdiff_t apart = (ptrdiff_t)t->cols;
  double *out = job->out + first * t->k;
  memset(out, 0, rows * t->k * sizeof *out);
  if (t->dtype == SCL_DTYPE_FLOAT64)
    loops->thin_product_f64(rows, t->cols, t->k, phi, job->stride, t->a, apart, out);
  else
    loops->thin_product_f32(rows, t->cols, t->k, phi, job->stride, t->a, apart, out);
}

/* Phi a by general matrix products, for k > SCL_THIN_COLUMNS. */
static scl_status general_product(const scl_thin *t, size_t rows, const void *phi, ptrdiff_t stride,
                                  double *out, scl_error *error) {
  const ptrdiff_t k = (ptrdiff_t)t->k;
  float *product = NULL;
  if (t->dtype == SCL_DTYPE_FLOAT32 &&
      (product = scl_allocate_array(rows * t->k + 1, sizeof *product)) == NULL)
    return scl_fail_memory(error, rows * t->k * sizeof *product, "a product");
  void *to = t->dtype == SCL_DTYPE_FLOAT64 ? (void *)out : (void *)product;
  scl_row_gemm_parallel(t->dtype, false, rows, t->k, t->cols, phi, stride, t->a, k, to, k);
  for (size_t i = 0; product != NULL && i < rows * t->k; i++)
    out[i] = (double)product[i];
  scl_release(product);
  return SCL_STATUS_OK;
}

scl_status scl_thin_product(const scl_thin *thin, size_t rows, const void *phi, ptrdiff_t stride,
                            double *out, scl_error *error) {
  if (thin->general) return general_product(thin, rows, phi, stride, out, error);
  thin_job job = {thin, rows, phi, stride, NULL, out};
  scl_pool_run((rows + TASK_ROWS - 1) / TASK_ROWS, product_task, &job);
  return SCL_STATUS_OK;
}

/* ------------ Phi' r */

/* A task of the pool: TASK_COLUMNS entries of Phi' r for all rows of the block, so that their
 * sums have one order. */
static void adjoint_task(void *context, size_t index) {
  const thin_job *job = context;
  const scl_thin *t = job->thin;
  const scl_loops *loops = scl_loops_get();
  const size_t first = index * TASK_COLUMNS, cols = scl_min(TASK_COLUMNS, t->cols - first);
  const void *phi = job->phi + first * scl_dtype_size(t->dtype);
  const ptrdiff_t apart = (ptrdiff_t)t->cols;
  double *sums = t->sums + first;
  if (t->dtype == SCL_DTYPE_FLOAT64)
    loops->thin_adjoint_f64(job->rows, cols, t->k, phi, job->stride, job->r, sums, apart);
  else
    loops->thin_adjoint_f32(job->rows, cols, t->k, phi, job->stride, job->r, sums, apart);
}

/* Phi' r by general matrix products; float32 products of a block are added in float64. */
static scl_status general_adjoint(scl_thin *t, size_t rows, const void *phi, ptrdiff_t stride,
                                  const void *r, scl_error *error) {
  const ptrdiff_t k = (ptrdiff_t)t->k;
  if (t->dtype == SCL_DTYPE_FLOAT64) {
    scl_gemm_parallel(SCL_DTYPE_FLOAT64, true, false, t->cols, t->k, rows, 1, phi, stride, r, k, 1,
                      t->sums, k);
    return SCL_STATUS_OK;
  }
  float *product = scl_allocate_array(t->cols * t->k + 1, sizeof *product);
  if (product == NULL) return scl_fail_memory(error, t->cols * t->k * sizeof *product, "a product");
  scl_gemm_parallel(SCL_DTYPE_FLOAT32, true, false, t->cols, t->k, rows, 1, phi, stride, r, k, 0,
                    product, k);
  for (size_t i = 0; i < t->cols * t->k; i++)
    t->sums[i] += (double)product[i];
  scl_release(product);
  return SCL_STATUS_OK;
}

scl_status scl_thin_adjoint(scl_thin *thin, size_t rows, const void *phi, ptrdiff_t stride,
                            const double *r, scl_error *error) {
  void *narrow =
      thin->dtype == SCL_DTYPE_FLOAT64 ? NULL : convert_numbers(thin, r, rows, false, error);
  if (narrow == NULL && thin->dtype != SCL_DTYPE_FLOAT64) return SCL_STATUS_NO_MEMORY;
  thin_job job = {thin, rows, phi, stride, narrow == NULL ? (const void *)r : narrow, NULL};
  scl_status status = SCL_STATUS_OK;
  if (thin->general)
    status = general_adjoint(thin, rows, phi, stride, job.r, error);
  else
    scl_pool_run((thin->cols + TASK_COLUMNS - 1) / TASK_COLUMNS, adjoint_task, &job);
  scl_release(narrow);
  return status;
}

void scl_thin_collect(const scl_thin *thin, double *out) {
  const size_t k = thin->k, cols = thin->cols;
  for (size_t i = 0; i < cols; i++)
    for (size_t q = 0; q < k; q++)
      out[i * k + q] += thin->sums[thin->general ? i * k + q : q * cols + i];
}

scl_status scl_thin_product_once(scl_dtype dtype, size_t rows, size_t cols, const void *x,
                                 ptrdiff_t stride, const double *a, size_t k, double *out,
                                 scl_error *error) {
  scl_thin thin;
  SCL_TRY(scl_thin_open(dtype, cols, a, k, &thin, error));
  const scl_status status = scl_thin_product(&thin, rows, x, stride, out, error);
  scl_thin_close(&thin);
  return status;
}

scl_status scl_thin_adjoint_once(scl_dtype dtype, size_t rows, size_t cols, const void *x,
                                 ptrdiff_t stride, const double *r, size_t k, double *out,
                                 scl_error *error) {
  scl_thin thin;
  SCL_TRY(scl_thin_open(dtype, cols, NULL, k, &thin, error));
  const scl_status status = scl_thin_adjoint(&thin, rows, x, stride, r, error);
  memset(out, 0, cols * k * sizeof *out);
  if (status == SCL_STATUS_OK) scl_thin_collect(&thin, out);
  scl_thin_close(&thin);
  return status;
}
