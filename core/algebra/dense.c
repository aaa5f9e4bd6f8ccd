#include "algebra/dense.h"

#include "algebra/blas.h"
#include "base/pool.h"

static CBLAS_TRANSPOSE flag(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }
/* cblas refuses a leading dimension below 1 even where there is nothing to do. */
static int leading(ptrdiff_t stride) { return stride < 1 ? 1 : (int)stride; }

void scl_gemm(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
              double alpha, const void *a, ptrdiff_t lda, const void *b, ptrdiff_t ldb, double beta,
              void *c, ptrdiff_t ldc) {
  if (m == 0 || n == 0) return;
  if (dtype == SCL_DTYPE_FLOAT64)
    scl_blas_get()->dgemm(CblasRowMajor, flag(transpose_a), flag(transpose_b), (int)m, (int)n,
                          (int)k, alpha, a, leading(lda), b, leading(ldb), beta, c, leading(ldc));
  else
    scl_blas_get()->sgemm(CblasRowMajor, flag(transpose_a), flag(transpose_b), (int)m, (int)n,
                          (int)k, (float)alpha, a, leading(lda), b, leading(ldb), (float)beta, c,
                          leading(ldc));
}

void scl_syrk(scl_dtype dtype, size_t n, size_t k, double alpha, const void *a, ptrdiff_t lda,
              double beta, void *c, ptrdiff_t ldc) {
  if (n == 0) return;
  if (dtype == SCL_DTYPE_FLOAT64)
    scl_blas_get()->dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)k, alpha, a,
                          leading(lda), beta, c, leading(ldc));
  else
    scl_blas_get()->ssyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)k, (float)alpha, a,
                          leading(lda), (float)beta, c, leading(ldc));
}

size_t scl_potrf(size_t n, double *a, ptrdiff_t lda) {
  if (n == 0) return 0;
  const int order = (int)n, stride = (int)lda;
  int info = 0;
  scl_blas_get()->dpotrf("U", &order, a, &stride, &info);
  return info > 0 ? (size_t)info - 1 : n;
}

void scl_trsm(bool transpose, size_t n, size_t k, const double *l, ptrdiff_t ldl, double *b,
              ptrdiff_t ldb) {
  if (n == 0 || k == 0) return;
  scl_blas_get()->dtrsm(CblasRowMajor, CblasLeft, CblasLower, flag(transpose), CblasNonUnit, (int)n,
                        (int)k, 1, l, leading(ldl), b, leading(ldb));
}

void scl_trsm_right(size_t m, size_t n, const double *l, ptrdiff_t ldl, double *b, ptrdiff_t ldb) {
  if (n == 0 || m == 0) return;
  scl_blas_get()->dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)m,
                        (int)n, 1, l, leading(ldl), b, leading(ldb));
}

bool scl_eigenvalues(bool symmetric, size_t n, double *a, double *real, double *imaginary,
                     double *work) {
  const int order = (int)n, room = 64 * (int)n, one = 1;
  int info = 0;
  double none;
  if (n == 0) return true;
  if (symmetric)
    scl_blas_get()->dsyev("N", "U", &order, a, &order, real, work, &room, &info);
  else
    scl_blas_get()->dgeev("N", "N", &order, a, &order, real, imaginary, &none, &one, &none, &one,
                          work, &room, &info);
  return info == 0;
}

/* dsyevr gives them ascending, one a column of a column-major matrix: a row of ours. */
scl_status scl_eigenvectors(size_t n, size_t count, double *a, double *values, double *vectors,
                            scl_error *error) {
  const int order = (int)n, first = (int)(n - count + 1), room = 32 * (int)n,
            integers = 10 * (int)n;
  const double unused = 0, tolerance = 0;
  int found = 0, info = 0;
  if (count == 0) return SCL_STATUS_OK;
  double *work = scl_allocate_array((size_t)room + n, sizeof *work);
  int *iwork = scl_allocate_array((size_t)integers + 2 * n, sizeof *iwork);
  if (work != NULL && iwork != NULL) {
    double *ascending = work + room;
    scl_blas_get()->dsyevr("V", count == n ? "A" : "I", "U", &order, a, &order, &unused, &unused,
                           &first, &order, &tolerance, &found, ascending, vectors, &order,
                           iwork + integers, work, &room, iwork, &integers, &info);
    for (size_t i = 0; info == 0 && i < count; i++)
      values[i] = ascending[count - 1 - i];
  }
  const bool memory = work != NULL && iwork != NULL;
  scl_release(work);
  scl_release(iwork);
  if (!memory) return scl_fail_memory(error, 33 * n * sizeof *work, "eigenvectors");
  if (info != 0 || found != (int)count)
    return scl_fail(error, SCL_STATUS_NUMERIC,
                    "the eigenvalues of a matrix of order %zu did not converge", n);
  for (size_t i = 0; i < count / 2; i++)
    for (size_t j = 0; j < n; j++) {
      const double kept = vectors[i * n + j];
      vectors[i * n + j] = vectors[(count - 1 - i) * n + j];
      vectors[(count - 1 - i) * n + j] = kept;
    }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- a product in tiles */

enum { TILE = 512 };

typedef struct product {
  scl_dtype dtype;
  bool transpose_a, transpose_b;
  size_t m, n, k, across;
  double alpha, beta;
  const char *a, *b;
  char *c;
  ptrdiff_t lda, ldb, ldc;
} product;

static void product_tile(void *context, size_t index) {
  const product *p = context;
  const size_t i = index / p->across * TILE, j = index % p->across * TILE;
  const ptrdiff_t size =
      p->dtype == SCL_DTYPE_FLOAT64 ? (ptrdiff_t)sizeof(double) : (ptrdiff_t)sizeof(float);
  const ptrdiff_t at_a = (ptrdiff_t)i * (p->transpose_a ? 1 : p->lda),
                  at_b = (ptrdiff_t)j * (p->transpose_b ? p->ldb : 1);
  scl_gemm(p->dtype, p->transpose_a, p->transpose_b, scl_min(TILE, p->m - i),
           scl_min(TILE, p->n - j), p->k, p->alpha, p->a + at_a * size, p->lda, p->b + at_b * size,
           p->ldb, p->beta, p->c + ((ptrdiff_t)i * p->ldc + (ptrdiff_t)j) * size, p->ldc);
}

void scl_gemm_parallel(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m, size_t n,
                       size_t k, double alpha, const void *a, ptrdiff_t lda, const void *b,
                       ptrdiff_t ldb, double beta, void *c, ptrdiff_t ldc) {
  const size_t across = (n + TILE - 1) / TILE;
  product p = {dtype, transpose_a, transpose_b, m, n,   k,   across, alpha,
               beta,  a,           b,           c, lda, ldb, ldc};
  scl_pool_run((m + TILE - 1) / TILE * across, product_tile, &p);
}

/* ---------------------------------------------------------------- the service */

static void service_gemm(int transpose_a, int transpose_b, size_t m, size_t n, size_t k,
                         double alpha, const double *a, ptrdiff_t lda, const double *b,
                         ptrdiff_t ldb, double beta, double *c, ptrdiff_t ldc) {
  scl_gemm(SCL_DTYPE_FLOAT64, transpose_a != 0, transpose_b != 0, m, n, k, alpha, a, lda, b, ldb,
           beta, c, ldc);
}

static void service_syrk(size_t n, size_t k, double alpha, const double *a, ptrdiff_t lda,
                         double beta, double *c, ptrdiff_t ldc) {
  scl_syrk(SCL_DTYPE_FLOAT64, n, k, alpha, a, lda, beta, c, ldc);
}

static scl_status service_potrf(size_t n, double *a, ptrdiff_t lda, scl_error *error) {
  const size_t pivot = scl_potrf(n, a, lda);
  if (pivot == n) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "the %zu x %zu matrix is not positive definite (pivot %zu)", n, n, pivot + 1);
}

static void service_potrs(size_t n, size_t k, const double *l, ptrdiff_t ldl, double *b,
                          ptrdiff_t ldb) {
  scl_trsm(false, n, k, l, ldl, b, ldb);
  scl_trsm(true, n, k, l, ldl, b, ldb);
}

const scl_dense_algebra scl_service_dense = {SCL_HEAD(scl_dense_algebra), service_gemm,
                                             service_syrk, service_potrf, service_potrs};
