/* Dense products, factors and eigenvalues by OpenBLAS, and the service of dense algebra for
 * plugins. */
#include "algebra/dense.h"

#include "algebra/blas.h"
#include "algebra/row_products.h"
#include "algebra/thin.h"
#include "base/background.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include <string.h>

static CBLAS_TRANSPOSE flag(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }
/* cblas refuses a leading dimension below 1 even where there is nothing to do. */
static int leading_dimension(ptrdiff_t stride) { return stride < 1 ? 1 : (int)stride; }

void scl_gemm(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
              double alpha, const void *a, ptrdiff_t lda, const void *b, ptrdiff_t ldb, double beta,
              void *c, ptrdiff_t ldc) {
  if (m == 0 || n == 0) return;
  if (dtype == SCL_DTYPE_FLOAT64 && n == 1 && k > 0 && !transpose_b) /* dgemm would pack all of A */
    scl_blas_get()->dgemv(CblasRowMajor, flag(transpose_a), (int)(transpose_a ? k : m),
                          (int)(transpose_a ? m : k), alpha, a, leading_dimension(lda), b,
                          leading_dimension(ldb), beta, c, leading_dimension(ldc));
  else if (dtype == SCL_DTYPE_FLOAT64)
    scl_blas_get()->dgemm(CblasRowMajor, flag(transpose_a), flag(transpose_b), (int)m, (int)n,
                          (int)k, alpha, a, leading_dimension(lda), b, leading_dimension(ldb), beta,
                          c, leading_dimension(ldc));
  else
    scl_blas_get()->sgemm(CblasRowMajor, flag(transpose_a), flag(transpose_b), (int)m, (int)n,
                          (int)k, (float)alpha, a, leading_dimension(lda), b,
                          leading_dimension(ldb), (float)beta, c, leading_dimension(ldc));
}

void scl_syrk(scl_dtype dtype, size_t n, size_t k, double alpha, const void *a, ptrdiff_t lda,
              double beta, void *c, ptrdiff_t ldc) {
  if (n == 0) return;
  if (dtype == SCL_DTYPE_FLOAT64)
    scl_blas_get()->dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)k, alpha, a,
                          leading_dimension(lda), beta, c, leading_dimension(ldc));
  else
    scl_blas_get()->ssyrk(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)k, (float)alpha, a,
                          leading_dimension(lda), (float)beta, c, leading_dimension(ldc));
}

/* LAPACK is column-major: the lower triangle of a row-major matrix is its upper triangle. */
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
  if (k == 1)
    scl_blas_get()->dtrsv(CblasRowMajor, CblasLower, flag(transpose), CblasNonUnit, (int)n, l,
                          leading_dimension(ldl), b, leading_dimension(ldb));
  else
    scl_blas_get()->dtrsm(CblasRowMajor, CblasLeft, CblasLower, flag(transpose), CblasNonUnit,
                          (int)n, (int)k, 1, l, leading_dimension(ldl), b, leading_dimension(ldb));
}

void scl_trsm_right(size_t m, size_t n, const double *l, ptrdiff_t ldl, double *b, ptrdiff_t ldb) {
  if (n == 0 || m == 0) return;
  scl_blas_get()->dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)m,
                        (int)n, 1, l, leading_dimension(ldl), b, leading_dimension(ldb));
}

/* ------------ eigenvalues, in the background, because LAPACK does not check for Ctrl-C */

typedef struct eigen {
  size_t n, count; /* count: eigenvectors */
  bool symmetric, vectors;
  int info, found;
  double *a, *real, *imaginary, *out, *work; /* in the memory behind this struct */
  int *support, *integers;
} eigen;

/* Eigenvalues alone: of a symmetric matrix in ascending order to `real`, of any other matrix to
 * `real` and `imaginary`. LAPACK overwrites a. */
static void find_eigenvalues(eigen *e) {
  const int order = (int)e->n, room = 64 * (int)e->n, one = 1;
  double none;
  if (e->symmetric)
    scl_blas_get()->dsyev("N", "U", &order, e->a, &order, e->real, e->work, &room, &e->info);
  else
    scl_blas_get()->dgeev("N", "N", &order, e->a, &order, e->real, e->imaginary, &none, &one, &none,
                          &one, e->work, &room, &e->info);
}

/* dsyevr returns eigenvalues in ascending order, and the eigenvectors as columns of a column-major
 * matrix, which are rows of a row-major one. */
static void find_eigenvectors(eigen *e) {
  const int order = (int)e->n, first = (int)(e->n - e->count + 1), room = 32 * (int)e->n,
            integers = 10 * (int)e->n;
  const double unused = 0, tolerance = 0;
  scl_blas_get()->dsyevr("V", e->count == e->n ? "A" : "I", "U", &order, e->a, &order, &unused,
                         &unused, &first, &order, &tolerance, &e->found, e->real, e->out, &order,
                         e->support, e->work, &room, e->integers, &integers, &e->info);
}

static void find_eigen(void *context) {
  eigen *e = context;
  (e->vectors ? find_eigenvectors : find_eigenvalues)(e);
}

/* A small problem ends soon and is not run in the background. */
static scl_status run_eigen(eigen *e, scl_error *error) {
  enum { SMALL = 256 };
  if (e->n > SMALL) return scl_background_run(find_eigen, e, error);
  find_eigen(e);
  return SCL_STATUS_OK;
}

/* The problem with all its arrays in one block of memory, so that a background thread that was
 * abandoned after Ctrl-C can release it. NULL: no memory. */
static eigen *make_eigen(size_t n, size_t count, bool symmetric, bool vectors, const double *a) {
  const size_t doubles = n * n + 2 * n + (vectors ? count * n + 32 * n : 64 * n + 1),
               integers = vectors ? 12 * n : 0;
  eigen *e = scl_allocate(sizeof *e + doubles * sizeof(double) + integers * sizeof(int));
  if (e == NULL) return NULL;
  *e = (eigen){.n = n, .count = count, .symmetric = symmetric, .vectors = vectors};
  e->a = (double *)(void *)(e + 1);
  e->real = e->a + n * n;
  e->imaginary = e->real + n;
  e->out = e->imaginary + n;
  e->work = e->out + (vectors ? count * n : 0);
  e->support = (int *)(void *)(e->a + doubles);
  e->integers = e->support + 2 * n;
  memcpy(e->a, a, n * n * sizeof *a);
  return e;
}

scl_status scl_eigenvalues(bool symmetric, size_t n, const double *a, double *real,
                           double *imaginary, scl_error *error) {
  if (n == 0) return SCL_STATUS_OK;
  eigen *e = make_eigen(n, 0, symmetric, false, a);
  if (e == NULL) return scl_fail_memory(error, n * n * sizeof *a, "eigenvalues");
  SCL_TRY(run_eigen(e, error));
  memcpy(real, e->real, n * sizeof *real);
  if (!symmetric) memcpy(imaginary, e->imaginary, n * sizeof *imaginary);
  const int info = e->info;
  scl_release(e);
  if (info == 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_NUMERIC, "the eigenvalues did not converge");
}

scl_status scl_eigenvectors(size_t n, size_t count, const double *a, double *values,
                            double *vectors, scl_error *error) {
  if (count == 0) return SCL_STATUS_OK;
  eigen *e = make_eigen(n, count, true, true, a);
  if (e == NULL) return scl_fail_memory(error, n * (n + count) * sizeof *a, "eigenvectors");
  SCL_TRY(run_eigen(e, error));
  const bool converged = e->info == 0 && e->found == (int)count;
  for (size_t i = 0; converged && i < count; i++) {
    values[i] = e->real[count - 1 - i];
    memcpy(vectors + i * n, e->out + (count - 1 - i) * n, n * sizeof *vectors);
  }
  scl_release(e);
  if (converged) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "the eigenvalues of a matrix of order %zu did not converge", n);
}

/* ------------ a product in tiles */

/* Order of the tiles of the result, and terms of a slice of a sum. Ctrl-C is checked between
 * slices. */
enum { TILE = 512, SLICE = 1 << 16 };

typedef struct product {
  scl_dtype dtype;
  bool transpose_a, transpose_b;
  size_t m, n, k, across;
  double alpha, beta;
  const char *a, *b;
  char *c;
  ptrdiff_t lda, ldb, ldc;
  bool interruptible;
} product;

/* A task of the pool: one TILE x TILE tile of C, summed over slices of k in ascending order. */
static void product_tile(void *context, size_t index) {
  const product *p = context;
  const size_t i = index / p->across * TILE, j = index % p->across * TILE;
  const ptrdiff_t size =
      p->dtype == SCL_DTYPE_FLOAT64 ? (ptrdiff_t)sizeof(double) : (ptrdiff_t)sizeof(float);
  const ptrdiff_t at_a = (ptrdiff_t)i * (p->transpose_a ? 1 : p->lda),
                  at_b = (ptrdiff_t)j * (p->transpose_b ? p->ldb : 1);
  const ptrdiff_t step_a = p->transpose_a ? p->lda : 1, step_b = p->transpose_b ? 1 : p->ldb;
  for (size_t k = 0; k < scl_max(p->k, 1) && !(p->interruptible && scl_interrupted()); k += SLICE)
    scl_gemm(p->dtype, p->transpose_a, p->transpose_b, scl_min(TILE, p->m - i),
             scl_min(TILE, p->n - j), scl_min(SLICE, p->k - k), p->alpha,
             p->a + (at_a + (ptrdiff_t)k * step_a) * size, p->lda,
             p->b + (at_b + (ptrdiff_t)k * step_b) * size, p->ldb, k == 0 ? p->beta : 1,
             p->c + ((ptrdiff_t)i * p->ldc + (ptrdiff_t)j) * size, p->ldc);
}

void scl_gemm_parallel(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m, size_t n,
                       size_t k, double alpha, const void *a, ptrdiff_t lda, const void *b,
                       ptrdiff_t ldb, double beta, void *c, ptrdiff_t ldc) {
  const size_t across = (n + TILE - 1) / TILE;
  product p = {dtype, transpose_a, transpose_b, m, n,   k,   across, alpha,
               beta,  a,           b,           c, lda, ldb, ldc,    false};
  scl_pool_run((m + TILE - 1) / TILE * across, product_tile, &p);
}

scl_status scl_gemm_interruptible(scl_dtype dtype, bool transpose_a, bool transpose_b, size_t m,
                                  size_t n, size_t k, const void *a, ptrdiff_t lda, const void *b,
                                  ptrdiff_t ldb, void *c, ptrdiff_t ldc, scl_error *error) {
  const size_t across = (n + TILE - 1) / TILE;
  product p = {dtype, transpose_a, transpose_b, m, n,   k,   across, 1,
               0,     a,           b,           c, lda, ldb, ldc,    true};
  scl_pool_run((m + TILE - 1) / TILE * across, product_tile, &p);
  return scl_interrupt_check(error);
}

/* ------------ the service */

/* Without transposition of A each row of the result depends on its own row of A only
 * (row_products.h). */
static void service_gemm(int transpose_a, int transpose_b, size_t m, size_t n, size_t k,
                         double alpha, const double *a, ptrdiff_t lda, const double *b,
                         ptrdiff_t ldb, double beta, double *c, ptrdiff_t ldc) {
  if (transpose_a == 0)
    scl_row_gemm(SCL_DTYPE_FLOAT64, transpose_b != 0, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  else
    scl_gemm(SCL_DTYPE_FLOAT64, true, transpose_b != 0, m, n, k, alpha, a, lda, b, ldb, beta, c,
             ldc);
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

const scl_dense_algebra scl_service_dense = {
    SCL_HEAD(scl_dense_algebra), service_gemm,         service_syrk, service_potrf, service_potrs,
    scl_thin_product_once,       scl_thin_adjoint_once};
