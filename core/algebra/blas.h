/* OpenBLAS, loaded when it is first needed. It would start threads of its own as it is loaded, and
 * ask the system for working memory without end where there is none: it is loaded for one thread,
 * and its memory is taken beforehand, or refused with a sentence. */
#ifndef SCULLERY_BLAS_H
#define SCULLERY_BLAS_H

#include "base/error.h"
#include <cblas.h>
#include <stdbool.h>

/* LAPACK, which OpenBLAS carries: column-major. */
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
  scl_dpotrf *dpotrf;
  scl_dsyev *dsyev;
  scl_dsyevr *dsyevr;
  scl_dgeev *dgeev;
} scl_blas;

/* Load it, and take the memory that calls of one thread need. Called before the first use; later
 * calls do nothing. Threads are started only where there is memory for their calls too. */
scl_status scl_blas_start(scl_error *error);
/* Whether so many threads that the engine did not start may call its functions at a time: OpenBLAS
 * has room for them, and a build that lets them. */
bool scl_blas_admits(size_t callers);
/* Its functions. Starts it where nobody has; the process ends where that fails. */
const scl_blas *scl_blas_get(void);

#endif
