/* The kernel of the support vector machines: its values, and which form of it LIBSVM is to compute.
 *
 * A kernel in the simple form declares that it is a function h of one number of the pair. LIBSVM
 * computes two such kernels itself:
 *
 *   h(||x - y||^2) = exp(-gamma ||x - y||^2)
 *   h(<x, y>) = <x, y> + c                    c changes nothing, for sum_i b_i = 0
 *
 * A value at a chosen distance gives gamma, and the value at the origin gives c. All pairs of a
 * sample of the rows must confirm them; otherwise the form is a table of all values. In any case
 * the solution is judged on the kernel's own values. */
#ifndef SCULLERY_SOLVER_SVM_KERNEL_H
#define SCULLERY_SOLVER_SVM_KERNEL_H

#include "shared/distances.h"
#include "shared/expansion.h"

#include <libsvm/svm.h>

typedef struct svm {
  scl_base base;
  scl_part kernel; /* no plugin: Gaussian, of this gamma */
  double gamma;    /* NaN: 1/d */
  double C, epsilon, tolerance, cache;
} svm;

/* ------------------------------------------------------------ values */

static inline double svm_gamma(const svm *self, size_t dim) {
  return isnan(self->gamma) ? 1 / (double)dim : self->gamma;
}

/* Squared distances by products; term by term where rows are so near that these cancel. */
static inline scl_status svm_gaussian(const svm *self, const scl_const_parameters *u,
                                      const scl_const_parameters *v, double *out, ptrdiff_t stride,
                                      scl_error *error) {
  const scl_host *host = self->base.host;
  const double gamma = svm_gamma(self, u->dim), cancelled = 1e-6;
  double *squares = host->allocate((u->count + v->count) * sizeof *squares);
  if (squares == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu squared lengths",
                      u->count + v->count);
  distances_squares(u->weights, u->stride, u->count, u->dim, squares);
  distances_squares(v->weights, v->stride, v->count, v->dim, squares + u->count);
  host->dense->gemm(0, 1, u->count, v->count, u->dim, -2, u->weights, u->stride, v->weights,
                    v->stride, 0, out, stride);
  for (size_t i = 0; i < u->count; i++) {
    double *row = out + (ptrdiff_t)i * stride;
    for (size_t j = 0; j < v->count; j++) {
      const double both = squares[i] + squares[u->count + j], distance = both + row[j];
      row[j] = -gamma * (distance > cancelled * both
                             ? distance
                             : distances_exact(u->weights + (ptrdiff_t)i * u->stride,
                                               v->weights + (ptrdiff_t)j * v->stride, u->dim));
    }
    host->math->exp(v->count, row, row);
  }
  host->release(squares);
  return SCL_STATUS_OK;
}

static inline scl_status svm_gram(const void *instance, const scl_const_parameters *u,
                                  const scl_const_parameters *v, double *out, ptrdiff_t stride,
                                  scl_error *error) {
  const svm *self = instance;
  if (self->kernel.plugin == NULL) return svm_gaussian(self, u, v, out, stride, error);
  return self->base.host->parts->gram(&self->kernel, u, v, out, stride, error);
}

/* ------------------------------------------------------------ forms */

typedef struct svm_form {
  int type;      /* LIBSVM's RBF, LINEAR or PRECOMPUTED */
  double gamma;  /* RBF */
  double offset; /* LINEAR: c */
} svm_form;

/* The form that the kernel declares, for others PRECOMPUTED. */
static inline int svm_declared(const scl_part *kernel) {
  const scl_kernel *table = kernel->plugin->vtable;
  if (table->gram != NULL || !SCL_HAS(table, pair) || table->move != NULL) return PRECOMPUTED;
  return table->pair == SCL_PAIR_SQUARED_DISTANCE ? RBF
         : table->pair == SCL_PAIR_DOT            ? LINEAR
                                                  : PRECOMPUTED;
}

/* K of the origin and the row (length, 0, ..., 0). zeros: two rows. */
static inline scl_status svm_value(const svm *self, size_t dim, double length, double *zeros,
                                   double *value, scl_error *error) {
  const scl_const_parameters u = scl_dense_rows(zeros, (ptrdiff_t)dim, 1, dim),
                             v = scl_dense_rows(zeros + dim, (ptrdiff_t)dim, 1, dim);
  zeros[dim] = length;
  return svm_gram(self, &u, &v, value, 1, error);
}

/* gamma = -log h(r^2)/r^2 from an r where h(r^2) is near 1/2; NaN where none is found. */
static inline scl_status svm_find_gamma(const svm *self, size_t dim, double *zeros, double *gamma,
                                        scl_error *error) {
  double r = 1, value = NAN;
  *gamma = NAN;
  for (int tries = 0; tries < 2000; tries++) {
    const scl_status status = svm_value(self, dim, r, zeros, &value, error);
    if (status != SCL_STATUS_OK) return status;
    if (value >= 0.3 && value <= 0.7) {
      *gamma = -log(value) / (r * r);
      break;
    }
    r *= value > 0.7 ? 1.5 : 1 / 1.5;
  }
  return SCL_STATUS_OK;
}

/* Whether the form gives K(x, y) = k, up to the rounding of both. */
static inline bool svm_agrees(const svm_form *form, size_t dim, const double *x, const double *y,
                              double k) {
  double dot = 0, both = 0;
  for (size_t j = 0; j < dim; j++) {
    dot += x[j] * y[j];
    both += x[j] * x[j] + y[j] * y[j];
  }
  if (form->type == LINEAR)
    return fabs(k - form->offset - dot) <= distances_slack(both + fabs(form->offset), dim);
  const double exponent = form->gamma * distances_exact(x, y, dim);
  if (exponent > 600) return k >= 0 && k < 1e-250;
  return fabs(log(k) + exponent) <=
         1e-9 * exponent + form->gamma * distances_slack(both, dim) + 1e-13;
}

enum { SVM_SAMPLE = 64 };

/* PRECOMPUTED where a sample of the rows x contradicts the form. room: SVM_SAMPLE x (dim +
 * SVM_SAMPLE) numbers. */
static inline scl_status svm_confirm(const svm *self, const double *x, size_t rows, size_t dim,
                                     double *room, svm_form *form, scl_error *error) {
  const size_t count = rows < SVM_SAMPLE ? rows : SVM_SAMPLE;
  double *k = room + count * dim;
  bool agree = true;
  for (size_t i = 0; i < count; i++)
    memcpy(room + i * dim, x + i * rows / count * dim, dim * sizeof *room);
  const scl_const_parameters u = scl_dense_rows(room, (ptrdiff_t)dim, count, dim);
  const scl_status status = svm_gram(self, &u, &u, k, (ptrdiff_t)count, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++)
    for (size_t j = 0; j < count; j++)
      agree = agree && svm_agrees(form, dim, room + i * dim, room + j * dim, k[i * count + j]);
  if (!agree) form->type = PRECOMPUTED;
  return status;
}

/* The form for these rows x. */
static inline scl_status svm_choose_form(const svm *self, const double *x, size_t rows, size_t dim,
                                         svm_form *form, scl_error *error) {
  *form = (svm_form){.type = RBF, .gamma = svm_gamma(self, dim)};
  if (self->kernel.plugin == NULL) return SCL_STATUS_OK;
  form->type = svm_declared(&self->kernel);
  if (form->type == PRECOMPUTED) return SCL_STATUS_OK;
  double *room = models_new(self->base.host, SVM_SAMPLE * (dim + SVM_SAMPLE) * sizeof *room, error);
  if (room == NULL) return SCL_STATUS_NO_MEMORY;
  scl_status status = form->type == RBF ? svm_find_gamma(self, dim, room, &form->gamma, error)
                                        : svm_value(self, dim, 0, room, &form->offset, error);
  if (status == SCL_STATUS_OK) status = svm_confirm(self, x, rows, dim, room, form, error);
  self->base.host->release(room);
  return status;
}

#endif
