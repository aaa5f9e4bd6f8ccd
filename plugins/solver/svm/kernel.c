/* Kernel values of support vector machines: in double precision for scores and for the judgement
 * of a solution, in single precision for the rows that a cache keeps. */
#include "svm.h"

#include "shared/distances.h"
#include <float.h>

/* Squared distances by products; term by term where rows are so near that these cancel. */
static void svm_distances(const svm *self, const svm_loops *loops, const svm_rows *u,
                          const svm_rows *v, double *out, ptrdiff_t stride) {
  self->base.host->dense->gemm(0, 1, u->count, v->count, u->dim, -2, u->x, u->stride, v->x,
                               v->stride, 0, out, stride);
  for (size_t i = 0; i < u->count; i++) {
    double *row = out + (ptrdiff_t)i * stride;
    size_t doubtful = loops->distances(v->count, u->squares[i], v->squares, row);
    for (size_t j = 0; doubtful > 0; j++) {
      if (!(row[j] < 0)) continue;
      row[j] =
          distances_exact(u->x + (ptrdiff_t)i * u->stride, v->x + (ptrdiff_t)j * v->stride, u->dim);
      doubtful--;
    }
  }
}

/* A kernel given as a part computes all values itself; the Gaussian kernel is exp(-gamma ||u -
 * v||^2) of the squared distances. */
scl_status svm_values(const svm *self, const svm_loops *loops, const svm_rows *u, const svm_rows *v,
                      double *out, ptrdiff_t stride, scl_error *error) {
  const scl_host *host = self->base.host;
  const double gamma = svm_gamma(self, u->dim);
  if (self->kernel.plugin != NULL) {
    const scl_const_parameters left = svm_parameters(u), right = svm_parameters(v);
    return host->parts->gram(&self->kernel, &left, &right, out, stride, error);
  }
  svm_distances(self, loops, u, v, out, stride);
  for (size_t i = 0; i < u->count; i++) {
    double *row = out + (ptrdiff_t)i * stride;
    for (size_t j = 0; j < v->count; j++)
      row[j] *= -gamma;
    host->math->exp(v->count, row, row);
  }
  return SCL_STATUS_OK;
}

/* The exponential of the Gaussian kernel is taken in single precision, of distances in double.
 * Values of other kernels are refused where K_ii + K_jj - 2 K_ij could overflow single
 * precision. */
scl_status svm_single(const svm *self, const svm_loops *loops, const svm_rows *u, const svm_rows *v,
                      double *room, float *const *out, scl_error *error) {
  const bool own = self->kernel.plugin == NULL;
  const double factor = own ? -svm_gamma(self, u->dim) : 1;
  scl_status status = SCL_STATUS_OK;
  if (own)
    svm_distances(self, loops, u, v, room, (ptrdiff_t)v->count);
  else
    status = svm_values(self, loops, u, v, room, (ptrdiff_t)v->count, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i++) {
    const float most = loops->single(v->count, factor, room + i * v->count, out[i]);
    if (own)
      self->base.host->math->expf(v->count, out[i], out[i]);
    else if (!(4 * most <= FLT_MAX))
      status = self->base.host->fail(error, SCL_STATUS_BAD_DATA,
                                     "kernel.%s is %g for two rows, too large for single "
                                     "precision: scale the rows",
                                     self->kernel.plugin->name, (double)most);
  }
  return status;
}

/* The squared lengths of the Gaussian kernel are computed for each call. */
scl_status svm_gram(const void *instance, const scl_const_parameters *u,
                    const scl_const_parameters *v, double *out, ptrdiff_t stride,
                    scl_error *error) {
  const svm *self = instance;
  const scl_host *host = self->base.host;
  if (self->kernel.plugin != NULL)
    return host->parts->gram(&self->kernel, u, v, out, stride, error);
  double *squares = host->allocate((u->count + v->count) * sizeof *squares);
  if (squares == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu squared lengths",
                      u->count + v->count);
  distances_squares(u->weights, u->stride, u->count, u->dim, squares);
  distances_squares(v->weights, v->stride, v->count, v->dim, squares + u->count);
  const svm_loops loops = svm_loops_get();
  const svm_rows left = {u->count, u->dim, u->weights, u->stride, squares},
                 right = {v->count, v->dim, v->weights, v->stride, squares + u->count};
  const scl_status status = svm_values(self, &loops, &left, &right, out, stride, error);
  host->release(squares);
  return status;
}
