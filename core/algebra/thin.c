#include "algebra/thin.h"

#include "algebra/dense.h"
#include "base/loops.h"
#include "base/pool.h"
#include <string.h>

/* Rows (product) or columns (adjoint) of a task, and the most groups of columns for which this
 * beats a general product. */
enum { TASK_ROWS = 64, TASK_COLUMNS = 256, MOST_GROUPS = 2 };

/* `count` rows of k columns, in groups, the last filled up with zeros: group g of row i at (g count
 * + i) lanes. */
static void pack(const scl_thin *thin, const double *in, size_t count, void *out) {
  const size_t lanes = thin->lanes, k = thin->k;
  memset(out, 0, thin->groups * count * lanes * scl_dtype_size(thin->dtype));
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < k; j++) {
      const size_t at = (j / lanes * count + i) * lanes + j % lanes;
      if (thin->dtype == SCL_DTYPE_FLOAT64)
        ((double *)out)[at] = in[i * k + j];
      else
        ((float *)out)[at] = (float)in[i * k + j];
    }
}

static void *packed(const scl_thin *thin, const double *in, size_t count, scl_error *error) {
  const size_t numbers = thin->groups * count * thin->lanes, size = scl_dtype_size(thin->dtype);
  void *out = scl_allocate_array(numbers + 1, size);
  if (out == NULL)
    (void)scl_fail_memory(error, numbers * size, "a product");
  else
    pack(thin, in, count, out);
  return out;
}

/* count x k numbers in dtype. */
static void *narrowed(const scl_thin *thin, const double *in, size_t count, scl_error *error) {
  const size_t numbers = count * thin->k;
  void *out = scl_allocate_array(numbers + 1, scl_dtype_size(thin->dtype));
  if (out == NULL) (void)scl_fail_memory(error, numbers * scl_dtype_size(thin->dtype), "a product");
  for (size_t i = 0; out != NULL && i < numbers; i++) {
    if (thin->dtype == SCL_DTYPE_FLOAT64)
      ((double *)out)[i] = in[i];
    else
      ((float *)out)[i] = (float)in[i];
  }
  return out;
}

scl_status scl_thin_open(scl_dtype dtype, size_t cols, const double *a, size_t k, scl_thin *out,
                         scl_error *error) {
  const size_t lanes = dtype == SCL_DTYPE_FLOAT64 ? SCL_LANES_F64 : SCL_LANES_F32,
               groups = (k + lanes - 1) / lanes;
  *out = (scl_thin){.dtype = dtype,
                    .cols = cols,
                    .k = k,
                    .lanes = lanes,
                    .groups = groups > MOST_GROUPS ? 0 : groups};
  const size_t numbers = out->groups == 0 ? cols * k : groups * cols * lanes;
  out->sums = scl_allocate_zero((numbers + 1) * sizeof *out->sums);
  if (out->sums == NULL) return scl_fail_memory(error, numbers * sizeof *out->sums, "a product");
  if (a == NULL) return SCL_STATUS_OK;
  out->a = out->groups == 0 ? narrowed(out, a, cols, error) : packed(out, a, cols, error);
  if (out->a != NULL) return SCL_STATUS_OK;
  scl_thin_close(out);
  return SCL_STATUS_NO_MEMORY;
}

void scl_thin_close(scl_thin *thin) {
  scl_release(thin->a);
  scl_release(thin->sums);
  *thin = (scl_thin){0};
}

/* ---------------------------------------------------------------- Phi a */

typedef struct thin_job {
  const scl_thin *thin;
  size_t rows;
  const char *phi;
  ptrdiff_t stride;
  const char *r; /* packed */
  double *out;
} thin_job;

static void product_task(void *context, size_t index) {
  const thin_job *job = context;
  const scl_thin *t = job->thin;
  const scl_loops *loops = scl_loops_get();
  const size_t first = index * TASK_ROWS, rows = scl_min(TASK_ROWS, job->rows - first),
               size = scl_dtype_size(t->dtype);
  const void *phi = job->phi + (ptrdiff_t)first * job->stride * (ptrdiff_t)size;
  double sums[TASK_ROWS * SCL_LANES_F32];
  for (size_t group = 0; group < t->groups; group++) {
    const void *a = (const char *)t->a + group * t->cols * t->lanes * size;
    memset(sums, 0, rows * t->lanes * sizeof *sums);
    if (t->dtype == SCL_DTYPE_FLOAT64)
      loops->thin_product_f64(rows, t->cols, phi, job->stride, a, sums);
    else
      loops->thin_product_f32(rows, t->cols, phi, job->stride, a, sums);
    const size_t column = group * t->lanes, columns = scl_min(t->lanes, t->k - column);
    for (size_t i = 0; i < rows; i++)
      memcpy(job->out + (first + i) * t->k + column, sums + i * t->lanes, columns * sizeof *sums);
  }
}

static scl_status general_product(const scl_thin *t, size_t rows, const void *phi, ptrdiff_t stride,
                                  double *out, scl_error *error) {
  const ptrdiff_t k = (ptrdiff_t)t->k;
  float *product = NULL;
  if (t->dtype == SCL_DTYPE_FLOAT32 &&
      (product = scl_allocate_array(rows * t->k + 1, sizeof *product)) == NULL)
    return scl_fail_memory(error, rows * t->k * sizeof *product, "a product");
  void *to = t->dtype == SCL_DTYPE_FLOAT64 ? (void *)out : (void *)product;
  scl_gemm_parallel(t->dtype, false, false, rows, t->k, t->cols, 1, phi, stride, t->a, k, 0, to, k);
  for (size_t i = 0; product != NULL && i < rows * t->k; i++)
    out[i] = (double)product[i];
  scl_release(product);
  return SCL_STATUS_OK;
}

scl_status scl_thin_product(const scl_thin *thin, size_t rows, const void *phi, ptrdiff_t stride,
                            double *out, scl_error *error) {
  if (thin->groups == 0) return general_product(thin, rows, phi, stride, out, error);
  thin_job job = {thin, rows, phi, stride, NULL, out};
  scl_pool_run((rows + TASK_ROWS - 1) / TASK_ROWS, product_task, &job);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- Phi' r */

static void adjoint_task(void *context, size_t index) {
  const thin_job *job = context;
  const scl_thin *t = job->thin;
  const scl_loops *loops = scl_loops_get();
  const size_t first = index * TASK_COLUMNS, cols = scl_min(TASK_COLUMNS, t->cols - first),
               size = scl_dtype_size(t->dtype);
  const void *phi = job->phi + first * size;
  for (size_t group = 0; group < t->groups; group++) {
    const void *r = job->r + group * job->rows * t->lanes * size;
    double *sums = t->sums + (group * t->cols + first) * t->lanes;
    if (t->dtype == SCL_DTYPE_FLOAT64)
      loops->thin_adjoint_f64(job->rows, cols, phi, job->stride, r, sums);
    else
      loops->thin_adjoint_f32(job->rows, cols, phi, job->stride, r, sums);
  }
}

static scl_status general_adjoint(scl_thin *t, size_t rows, const void *phi, ptrdiff_t stride,
                                  const double *r, scl_error *error) {
  const ptrdiff_t k = (ptrdiff_t)t->k;
  if (t->dtype == SCL_DTYPE_FLOAT64) {
    scl_gemm_parallel(SCL_DTYPE_FLOAT64, true, false, t->cols, t->k, rows, 1, phi, stride, r, k, 1,
                      t->sums, k);
    return SCL_STATUS_OK;
  }
  void *narrow = narrowed(t, r, rows, error);
  float *product = scl_allocate_array(t->cols * t->k + 1, sizeof *product);
  if (narrow != NULL && product != NULL) {
    scl_gemm_parallel(SCL_DTYPE_FLOAT32, true, false, t->cols, t->k, rows, 1, phi, stride, narrow,
                      k, 0, product, k);
    for (size_t i = 0; i < t->cols * t->k; i++)
      t->sums[i] += (double)product[i];
  }
  const bool done = narrow != NULL && product != NULL;
  scl_release(narrow);
  scl_release(product);
  return done ? SCL_STATUS_OK
              : scl_fail_memory(error, t->cols * t->k * sizeof *product, "a product");
}

scl_status scl_thin_adjoint(scl_thin *thin, size_t rows, const void *phi, ptrdiff_t stride,
                            const double *r, scl_error *error) {
  if (thin->groups == 0) return general_adjoint(thin, rows, phi, stride, r, error);
  void *copy = packed(thin, r, rows, error);
  if (copy == NULL) return SCL_STATUS_NO_MEMORY;
  thin_job job = {thin, rows, phi, stride, copy, NULL};
  scl_pool_run((thin->cols + TASK_COLUMNS - 1) / TASK_COLUMNS, adjoint_task, &job);
  scl_release(copy);
  return SCL_STATUS_OK;
}

void scl_thin_collect(const scl_thin *thin, double *out) {
  const size_t k = thin->k, lanes = thin->lanes;
  for (size_t i = 0; i < thin->cols; i++)
    for (size_t j = 0; j < k; j++)
      out[i * k + j] += thin->groups == 0
                            ? thin->sums[i * k + j]
                            : thin->sums[(j / lanes * thin->cols + i) * lanes + j % lanes];
}
