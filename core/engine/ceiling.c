#define _POSIX_C_SOURCE 200809L
#include "ceiling.h"

#include "dense.h"
#include "matrix.h"
#include "pool.h"
#include <cblas.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

scl_status scl_ceiling(bool syrk, scl_dtype dtype, size_t n, double *gflops, scl_error *error) {
  scl_matrix a = {0}, b = {0}, c = {0};
  scl_status status = scl_matrix_create(n, n, dtype, &a, error);
  if (status == SCL_OK) status = scl_matrix_create(n, n, dtype, &b, error);
  if (status == SCL_OK) status = scl_matrix_create(n, n, dtype, &c, error);
  *gflops = 0;
  for (size_t i = 0; status == SCL_OK && i < n * n; i++) {
    scl_matrix_set(&a, i / n, i % n, (double)(i % 7) - 3);
    scl_matrix_set(&b, i / n, i % n, (double)(i % 5) - 2);
  }
  openblas_set_num_threads((int)scl_pool_threads());
  for (int run = 0; status == SCL_OK && run < 3; run++) {
    const double began = seconds(), cube = (double)n * (double)n * (double)n;
    if (syrk)
      scl_syrk(dtype, n, n, 1, a.data, (ptrdiff_t)n, 0, c.data, (ptrdiff_t)n);
    else
      scl_gemm(dtype, false, true, n, n, n, 1, a.data, (ptrdiff_t)n, b.data, (ptrdiff_t)n, 0, c.data, (ptrdiff_t)n);
    const double rate = (syrk ? cube : 2 * cube) / (seconds() - began) * 1e-9;
    if (rate > *gflops) *gflops = rate;
  }
  openblas_set_num_threads(1);
  scl_matrix_release(&a);
  scl_matrix_release(&b);
  scl_matrix_release(&c);
  return status;
}
