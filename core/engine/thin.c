#include "thin.h"

#include "dense.h"
#include "loops.h"
#include "pool.h"
#include <string.h>

/* Rows (product) or columns (adjoint) of a task, and the most columns k for which this beats a general product. */
enum { TASK_ROWS = 64, TASK_COLUMNS = 256, MOST_GROUPS = 2 };

static size_t lanes_of(scl_dtype dtype) {
  return dtype == SCL_F64 ? SCL_LANES_F64 : SCL_LANES_F32;
}

/* The columns in groups of `lanes`, the last filled up with zeros: group g of row i at (g count + i) lanes. */
static void pack(scl_dtype dtype, const double *in, size_t count, size_t k, void *out) {
  const size_t lanes = lanes_of(dtype), groups = (k + lanes - 1) / lanes;
  memset(out, 0, groups * count * lanes * scl_dtype_size(dtype));
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < k; j++) {
      const size_t at = (j / lanes * count + i) * lanes + j % lanes;
      if (dtype == SCL_F64)
        ((double *)out)[at] = in[i * k + j];
      else
        ((float *)out)[at] = (float)in[i * k + j];
    }
}

/* The columns of group g from a packed result of `count` rows, added to out (rows x k). */
static void unpack(const double *packed, size_t lanes, size_t count, size_t group, size_t k, double *out) {
  const size_t first = group * lanes, columns = scl_min(lanes, k - first);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < columns; j++)
      out[i * k + first + j] += packed[i * lanes + j];
}

typedef struct thin_job {
  scl_dtype dtype;
  size_t rows, cols, k, lanes;
  const char *phi;
  ptrdiff_t stride;
  const char *packed;
  double *out;
} thin_job;

static const char *group_of(const thin_job *job, size_t group, size_t count) {
  return job->packed + group * count * job->lanes * scl_dtype_size(job->dtype);
}

static void product_task(void *context, size_t index) {
  const thin_job *job = context;
  const scl_loops *loops = scl_loops_get();
  const size_t first = index * TASK_ROWS, rows = scl_min(TASK_ROWS, job->rows - first);
  const char *phi = job->phi + (ptrdiff_t)first * job->stride * (ptrdiff_t)scl_dtype_size(job->dtype);
  double *out = job->out + first * job->k, sums[TASK_ROWS * SCL_LANES_F32];
  memset(out, 0, rows * job->k * sizeof *out);
  for (size_t group = 0; group * job->lanes < job->k; group++) {
    const void *a = group_of(job, group, job->cols);
    memset(sums, 0, rows * job->lanes * sizeof *sums);
    if (job->dtype == SCL_F64)
      loops->thin_product_f64(rows, job->cols, (const double *)(const void *)phi, job->stride, a, sums);
    else
      loops->thin_product_f32(rows, job->cols, (const float *)(const void *)phi, job->stride, a, sums);
    unpack(sums, job->lanes, rows, group, job->k, out);
  }
}

static void adjoint_task(void *context, size_t index) {
  const thin_job *job = context;
  const scl_loops *loops = scl_loops_get();
  const size_t first = index * TASK_COLUMNS, cols = scl_min(TASK_COLUMNS, job->cols - first);
  const char *phi = job->phi + first * scl_dtype_size(job->dtype);
  double sums[TASK_COLUMNS * SCL_LANES_F32];
  for (size_t group = 0; group * job->lanes < job->k; group++) {
    const void *r = group_of(job, group, job->rows);
    memset(sums, 0, cols * job->lanes * sizeof *sums);
    if (job->dtype == SCL_F64)
      loops->thin_adjoint_f64(job->rows, cols, (const double *)(const void *)phi, job->stride, r, sums);
    else
      loops->thin_adjoint_f32(job->rows, cols, (const float *)(const void *)phi, job->stride, r, sums);
    unpack(sums, job->lanes, cols, group, job->k, job->out + first * job->k);
  }
}

/* Many columns, by a general product; float32 results go through a matrix of their own. */
static scl_status general(const thin_job *job, bool transpose, const double *in, scl_error *error) {
  const size_t inner = transpose ? job->rows : job->cols, outer = transpose ? job->cols : job->rows, k = job->k;
  const ptrdiff_t width = (ptrdiff_t)k;
  if (job->dtype == SCL_F64) {
    scl_gemm_parallel(SCL_F64, transpose, false, outer, k, inner, 1, job->phi, job->stride, in, width, transpose ? 1 : 0, job->out, width);
    return SCL_OK;
  }
  float *narrow = scl_allocate_array((inner + outer) * k + 1, sizeof *narrow), *product = narrow + inner * k;
  if (narrow == NULL) return scl_fail_memory(error, (inner + outer) * k * sizeof *narrow, "a product");
  for (size_t i = 0; i < inner * k; i++)
    narrow[i] = (float)in[i];
  scl_gemm_parallel(SCL_F32, transpose, false, outer, k, inner, 1, job->phi, job->stride, narrow, width, 0, product, width);
  for (size_t i = 0; i < outer * k; i++)
    job->out[i] = (transpose ? job->out[i] : 0) + (double)product[i];
  scl_release(narrow);
  return SCL_OK;
}

static scl_status run(thin_job *job, bool transpose, const double *in, scl_error *error) {
  const size_t inner = transpose ? job->rows : job->cols, groups = (job->k + job->lanes - 1) / job->lanes;
  if (groups > MOST_GROUPS) return general(job, transpose, in, error);
  char *packed = scl_allocate_array(groups * inner * job->lanes + 1, scl_dtype_size(job->dtype));
  if (packed == NULL) return scl_fail_memory(error, groups * inner * job->lanes * scl_dtype_size(job->dtype), "a product");
  pack(job->dtype, in, inner, job->k, packed);
  job->packed = packed;
  if (transpose)
    scl_pool_run((job->cols + TASK_COLUMNS - 1) / TASK_COLUMNS, adjoint_task, job);
  else
    scl_pool_run((job->rows + TASK_ROWS - 1) / TASK_ROWS, product_task, job);
  scl_release(packed);
  return SCL_OK;
}

scl_status scl_thin_product(scl_dtype dtype, size_t rows, size_t cols, const void *phi, ptrdiff_t stride, const double *a, size_t k,
                            double *out, scl_error *error) {
  thin_job job = {dtype, rows, cols, k, lanes_of(dtype), phi, stride, NULL, out};
  return run(&job, false, a, error);
}

scl_status scl_thin_adjoint(scl_dtype dtype, size_t rows, size_t cols, const void *phi, ptrdiff_t stride, const double *r, size_t k,
                            double *out, scl_error *error) {
  thin_job job = {dtype, rows, cols, k, lanes_of(dtype), phi, stride, NULL, out};
  return run(&job, true, r, error);
}
