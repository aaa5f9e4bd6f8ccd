/* OpenBLAS, loaded at its first use. By itself it starts threads when it is loaded, and retries
 * without end where the system has no working memory: so it is loaded for one thread, and its
 * memory is reserved beforehand, or the call fails with a sentence. */
#ifndef SCULLERY_BLAS_H
#define SCULLERY_BLAS_H

#include "base/error.h"
#include <cblas.h>
#include <stdbool.h>

/* Functions of LAPACK in OpenBLAS; matrices are column-major. */
typedef void scl_dpotrf(const char *uplo, const int *n, double *a, const int *lda, int *info);
typedef void scl_dsyev(const char *job, const char *uplo, const int *n, double *a, const int *lda,
                       double *w, double *work, const int *lwork, int *info);
typedef void scl_dsyevr(const char *job, const char *range, const char *uplo, const int *n,
                        double *a, const int *lda, const double *low, const double *high,
                        const int *first, const int *last, const double *tolerance, int *found,
                        double *w, double *z, const int *ldz, int *support, double *work,
                        const int *lwork, int *iwork, const int *liwork, int *info);
typedef void scl_dgeev(const char *left, const char *right, const int *n, double *a, const int *lda,
                       double *wr, double *wi, double *vl, const int *ldvl, double *vr,
                       const int *ldvr, double *work, const int *lwork, int *info);

typedef struct scl_blas {
  __typeof__(cblas_dgemm) *dgemm;
  __typeof__(cblas_sgemm) *sgemm;
  __typeof__(cblas_dsyrk) *dsyrk;
  __typeof__(cblas_ssyrk) *ssyrk;
  __typeof__(cblas_dtrsm) *dtrsm;
  __typeof__(cblas_strsm) *strsm;
  __typeof__(cblas_dgemv) *dgemv;
  __typeof__(cblas_dtrsv) *dtrsv;
  scl_dpotrf *dpotrf;
  scl_dsyev *dsyev;
  scl_dsyevr *dsyevr;
  scl_dgeev *dgeev;
} scl_blas;

/* Load OpenBLAS, and reserve the memory that calls from one thread need. Later calls do nothing.
 * From then on, threads start only where memory for their calls can be reserved too (thread.h). */
scl_status scl_blas_start(scl_error *error);
/* Whether `callers` threads that the engine did not start may call these functions at the same
 * time: true where OpenBLAS is built for threads and buffers for them can be reserved. */
bool scl_blas_admits(size_t callers);
/* The functions. Calls scl_blas_start where needed, and ends the process where that fails. */
const scl_blas *scl_blas_get(void);

#endif
