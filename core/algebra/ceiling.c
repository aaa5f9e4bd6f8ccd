/* Rates of matrix products by OpenBLAS and of elementwise passes, for scullery bench. */
#include "algebra/ceiling.h"

#include "algebra/dense.h"
#include "algebra/matrix.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/progress.h"
#include <math.h>
#include <string.h>

/* Rows of a slice of a product. Ctrl-C is checked between slices. */
enum { SLICE = 512 };

typedef struct products {
  bool syrk;
  size_t n;
  const scl_matrix *a, *b;
  scl_matrix c; /* n rows for each thread */
} products;

/* Task: one thread's product, in slices of SLICE rows. */
static void ceiling_multiply(void *context, size_t index) {
  const products *p = context;
  const scl_dtype dtype = p->a->dtype;
  const ptrdiff_t n = (ptrdiff_t)p->n;
  void *c = scl_at_mutable(p->c.data, dtype, (ptrdiff_t)index * n * n);
  for (size_t k = 0; k < p->n && !scl_interrupted(); k += SLICE) {
    const size_t some = scl_min(SLICE, p->n - k);
    const void *a = scl_at(p->a->data, dtype, (ptrdiff_t)k * n),
               *b = scl_at(p->b->data, dtype, (ptrdiff_t)k * n);
    if (p->syrk)
      scl_syrk(dtype, p->n, some, 1, a, n, k > 0, c, n);
    else
      scl_gemm(dtype, true, false, p->n, p->n, some, 1, a, n, b, n, k > 0, c, n);
  }
}

scl_status scl_ceiling(bool syrk, scl_dtype dtype, size_t n, double *gflops, scl_error *error) {
  const size_t threads = scl_pool_threads();
  scl_matrix a = {0}, b = {0};
  products p = {.syrk = syrk, .n = n, .a = &a, .b = &b};
  scl_status status = scl_matrix_create(n, n, dtype, &a, error);
  if (status == SCL_STATUS_OK) status = scl_matrix_create(n, n, dtype, &b, error);
  if (status == SCL_STATUS_OK) status = scl_matrix_create(threads * n, n, dtype, &p.c, error);
  *gflops = 0;
  for (size_t i = 0; status == SCL_STATUS_OK && i < n * n; i++) {
    scl_matrix_set(&a, i / n, i % n, (double)(i % 7) - 3);
    scl_matrix_set(&b, i / n, i % n, (double)(i % 5) - 2);
  }
  for (int run = 0; status == SCL_STATUS_OK && run < 3 && !scl_interrupted(); run++) {
    const double began = scl_progress_clock(), cube = (double)n * (double)n * (double)n;
    scl_pool_run(threads, ceiling_multiply, &p);
    const double work = (double)threads * (syrk ? cube : 2 * cube),
                 rate = work / (scl_progress_clock() - began) * 1e-9;
    if (rate > *gflops) *gflops = rate;
  }
  scl_matrix_release(&a);
  scl_matrix_release(&b);
  scl_matrix_release(&p.c);
  return status == SCL_STATUS_OK ? scl_interrupt_check(error) : status;
}

/* An elementwise pass over z. */
typedef struct passing {
  scl_dtype dtype;
  char *z;
  const void *ones;
  size_t features;
  bool cosine;
} passing;

/* A task of the pool: the cosine of row i, or the row times a row of ones, in place. */
static void pass_row(void *context, size_t i) {
  const passing *p = context;
  const scl_loops *loops = scl_loops_get();
  void *row = p->z + i * p->features * scl_dtype_size(p->dtype);
  if (p->dtype == SCL_DTYPE_FLOAT64 && p->cosine) loops->math.cos(p->features, row, row);
  if (p->dtype == SCL_DTYPE_FLOAT32 && p->cosine) loops->math.cosf(p->features, row, row);
  if (p->dtype == SCL_DTYPE_FLOAT64 && !p->cosine)
    (void)loops->scale_f64(p->features, p->ones, row, row);
  if (p->dtype == SCL_DTYPE_FLOAT32 && !p->cosine)
    (void)loops->scale_f32(p->features, p->ones, row, row);
}

scl_status scl_ceiling_features(scl_dtype dtype, size_t blocks, size_t rows, size_t d,
                                size_t features, const char *pass, double *best, scl_error *error) {
  scl_matrix x = {0}, w = {0}, z = {0}, ones = {0};
  scl_status status = scl_matrix_create(rows, d, dtype, &x, error);
  if (status == SCL_STATUS_OK) status = scl_matrix_create(features, d, dtype, &w, error);
  if (status == SCL_STATUS_OK) status = scl_matrix_create(rows, features, dtype, &z, error);
  if (status == SCL_STATUS_OK) status = scl_matrix_create(1, features, dtype, &ones, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows * d; i++)
    scl_matrix_set(&x, i / d, i % d, (double)(i % 7) - 3);
  for (size_t i = 0; status == SCL_STATUS_OK && i < features * d; i++)
    scl_matrix_set(&w, i / d, i % d, (double)(i % 5) - 2);
  for (size_t j = 0; status == SCL_STATUS_OK && j < features; j++)
    scl_matrix_set(&ones, 0, j, 1);
  passing p = {dtype, z.data, ones.data, features, strcmp(pass, "cos") == 0};
  *best = INFINITY;
  for (int run = 0; status == SCL_STATUS_OK && run < 3 && !scl_interrupted(); run++) {
    const double began = scl_progress_clock();
    for (size_t block = 0; block < blocks && !scl_interrupted(); block++) {
      scl_gemm_parallel(dtype, false, true, rows, features, d, 1, x.data, (ptrdiff_t)d, w.data,
                        (ptrdiff_t)d, 0, z.data, (ptrdiff_t)features);
      if (strcmp(pass, "none") != 0) scl_pool_run(rows, pass_row, &p);
    }
    *best = fmin(*best, scl_progress_clock() - began);
  }
  scl_matrix_release(&x);
  scl_matrix_release(&w);
  scl_matrix_release(&z);
  scl_matrix_release(&ones);
  return status == SCL_STATUS_OK ? scl_interrupt_check(error) : status;
}
