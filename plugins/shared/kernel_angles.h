/* Kernels of lengths and angle alone, on dense rows: what Gaussian (in general, rotation-invariant)
 * parameters induce. K(u, v) is made from ||u||, ||v|| and the cosine, or the angle, between the
 * two; a row of zeros stands at a right angle to all others, and in the direction of itself. A
 * kernel's instance begins with a kernel_angle; angle_gram and angle_diagonal are its slots. */
#ifndef SCULLERY_SHARED_KERNEL_ANGLES_H
#define SCULLERY_SHARED_KERNEL_ANGLES_H

#include "shared/kernel.h"

typedef struct kernel_angle {
  kernel base;
  int radians; /* `join` is given angles, else cosines */
  /* From the cosines (angles) of `count` pairs to K, in place. */
  void (*join)(const void *self, double length_u, size_t count, const double *length_v,
               double *values);
} kernel_angle;

static inline scl_status angle_create(const scl_host *host, size_t size, kernel_angle form,
                                      void **instance, scl_error *error) {
  const scl_status status = kernel_create(host, size, (kernel){0}, instance, error);
  if (status != SCL_STATUS_OK) return status;
  kernel_angle *self = *instance;
  form.base = self->base;
  *self = form;
  return SCL_STATUS_OK;
}

/* Rows divided by their lengths; exact whatever the size of the numbers. */
typedef struct angle_rows {
  double *unit; /* count x dim, and behind them the lengths */
  const double *length;
} angle_rows;

static inline double angle_unit(size_t dim, const double *x, double *unit) {
  double high = 0, square = 0;
  for (size_t k = 0; k < dim; k++)
    high = fmax(high, fabs(x[k]));
  for (size_t k = 0; k < dim; k++) {
    unit[k] = high > 0 ? x[k] / high : 0;
    square += unit[k] * unit[k];
  }
  const double root = sqrt(square), inverse = 1 / root;
  for (size_t k = 0; high > 0 && k < dim; k++)
    unit[k] *= inverse;
  return high * root;
}

static inline scl_status angle_rows_make(const kernel *self, const scl_parameters *p,
                                         angle_rows *out, scl_error *error) {
  out->length = NULL;
  out->unit = self->host->allocate((p->count * (p->dim + 1) + 1) * sizeof *out->unit);
  if (out->unit == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a copy of %zu rows",
                            p->count);
  double *length = out->unit + p->count * p->dim;
  for (size_t i = 0; i < p->count; i++)
    length[i] = angle_unit(p->dim, kernel_row(p, i), out->unit + i * p->dim);
  out->length = length;
  return SCL_STATUS_OK;
}

/* Near 0 and pi a cosine says nothing of the angle, and rounding moves it past 1: there by the
 * chord, 2 sin(angle/2) = ||u - v||. */
static inline double angle_exact(const kernel_angle *self, size_t dim, const double *u,
                                 const double *v, double cosine) {
  const double near = 0.999;
  if (fabs(cosine) < near) return self->radians ? acos(cosine) : cosine;
  double square = 0;
  for (size_t k = 0; k < dim; k++) {
    const double gap = cosine > 0 ? u[k] - v[k] : u[k] + v[k];
    square += gap * gap;
  }
  const double small = 2 * asin(fmin(sqrt(square) / 2, 1)), pi = 3.14159265358979323846;
  if (self->radians) return cosine > 0 ? small : pi - small;
  return cosine > 0 ? 1 - square / 2 : square / 2 - 1;
}

static inline scl_status angle_gram(const void *instance, const scl_parameters *u,
                                    const scl_parameters *v, double *out, ptrdiff_t stride,
                                    scl_error *error) {
  const kernel_angle *self = instance;
  const kernel *base = &self->base;
  const size_t dim = u->dim;
  angle_rows left, right;
  scl_status status = angle_rows_make(base, u, &left, error);
  if (status != SCL_STATUS_OK) return status;
  status = angle_rows_make(base, v, &right, error);
  if (status == SCL_STATUS_OK && dim > 0)
    base->algebra->gemm(0, 1, u->count, v->count, dim, 1, left.unit, (ptrdiff_t)dim, right.unit,
                        (ptrdiff_t)dim, 0, out, stride);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i++) {
    double *row = out + (ptrdiff_t)i * stride;
    for (size_t j = 0; j < v->count; j++) {
      const int zeros = left.length[i] == 0 && right.length[j] == 0;
      row[j] =
          angle_exact(self, dim, left.unit + i * dim, right.unit + j * dim, zeros ? 1 : row[j]);
    }
    self->join(instance, left.length[i], v->count, right.length, row);
  }
  base->host->release(left.unit);
  base->host->release(right.unit);
  return status;
}

static inline scl_status angle_diagonal(const void *instance, const scl_parameters *u, double *out,
                                        scl_error *error) {
  const kernel_angle *self = instance;
  angle_rows rows;
  const scl_status status = angle_rows_make(&self->base, u, &rows, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i++) {
    out[i] = self->radians ? 0 : 1;
    self->join(instance, rows.length[i], 1, &rows.length[i], &out[i]);
  }
  if (status == SCL_STATUS_OK) self->base.host->release(rows.unit);
  return status;
}

#endif
