/* Gram matrix and diagonal of a kernel that gathers one number per column (chi_square,
 * intersection, min_max, skewed_chi_square). */
#include "shared/column_kernel.h"

/* The arguments of row i of p, `step` apart in the output. */
static void column_row(const column_kernel *kernel, const void *self, const scl_const_parameters *p,
                       size_t i, size_t step, double *out) {
  const double *row = p->weights + (ptrdiff_t)i * p->stride;
  for (size_t k = 0; k < p->dim; k++)
    out[k * step] = kernel->argument(self, row[k]);
}

enum { COLUMN_PANEL = 256 };

/* Computes K of all rows of u with rows first .. first+count-1 of v; `room` has (COLUMN_PANEL +
 * 1) dim numbers. */
static void column_panel(const column_kernel *kernel, const void *self,
                         const scl_const_parameters *u, const scl_const_parameters *v, size_t first,
                         size_t count, double *room, double *out, ptrdiff_t stride) {
  double *x = room, *panel = room + u->dim;
  for (size_t j = 0; j < count; j++)
    column_row(kernel, self, v, first + j, COLUMN_PANEL, panel + j);
  for (size_t i = 0; i < u->count; i++) {
    double *to = out + (ptrdiff_t)i * stride + (ptrdiff_t)first;
    column_row(kernel, self, u, i, 1, x);
    for (size_t j = 0; j < count; j++)
      to[j] = kernel->start;
    for (size_t k = 0; k < u->dim; k++)
      kernel->gather(x[k], count, panel + k * COLUMN_PANEL, to);
  }
}

/* Rows of v are taken COLUMN_PANEL at a time and turned, so that `gather` runs over adjacent
 * numbers. */
scl_status column_gram(const column_kernel *kernel, const void *self, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *room = host->scratch(((COLUMN_PANEL + 1) * u->dim + 1) * sizeof *room);
  if (room == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel of %zu columns",
                      u->dim);
  for (size_t first = 0; first < v->count; first += COLUMN_PANEL) {
    const size_t left = v->count - first, count = left < COLUMN_PANEL ? left : COLUMN_PANEL;
    column_panel(kernel, self, u, v, first, count, room, out, stride);
  }
  return SCL_STATUS_OK;
}

scl_status column_diagonal(const column_kernel *kernel, const void *self,
                           const scl_const_parameters *u, double *out, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *x = host->scratch((u->dim + 1) * sizeof *x);
  if (x == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel of %zu columns",
                      u->dim);
  for (size_t i = 0; i < u->count; i++) {
    column_row(kernel, self, u, i, 1, x);
    out[i] = kernel->start;
    for (size_t k = 0; k < u->dim; k++)
      kernel->gather(x[k], 1, &x[k], &out[i]);
  }
  return SCL_STATUS_OK;
}

static double column_itself(const void *self, double x) {
  (void)self;
  return x;
}

static void column_add_minima(double x, size_t count, const double *y, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] += x < y[j] ? x : y[j];
}

const column_kernel column_minima = {.argument = column_itself, .gather = column_add_minima};
