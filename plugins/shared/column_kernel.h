/* Kernels on dense rows that gather one number a column, in the order of the columns:
 *
 *   K(x, y) = f(x_1, y_1) o f(x_2, y_2) o ... o f(x_d, y_d),   o a sum or a product
 *
 * The rows of v are turned, so that inner loops run over adjacent numbers. */
#ifndef SCULLERY_SHARED_COLUMN_KERNEL_H
#define SCULLERY_SHARED_COLUMN_KERNEL_H

#include <scullery/plugin.h>

typedef struct column_kernel {
  double start; /* K over no columns */
  /* What f takes of a number x of the data; NaN where x is out of the domain. */
  double (*prepare)(const void *self, double x);
  /* out[j] = out[j] o f(x, y[j]), j < count */
  void (*gather)(double x, size_t count, const double *y, double *out);
  /* The sentence for such an x in that column, from 1. */
  scl_status (*refuse)(const void *self, size_t column, double x, scl_error *error);
} column_kernel;

/* Row i of p, its numbers `step` apart. */
static inline scl_status column_row(const column_kernel *kernel, const void *self,
                                    const scl_const_parameters *p, size_t i, size_t step,
                                    double *out, scl_error *error) {
  const double *row = p->weights + (ptrdiff_t)i * p->stride;
  for (size_t k = 0; k < p->dim; k++) {
    out[k * step] = kernel->prepare(self, row[k]);
    if (isnan(out[k * step])) return kernel->refuse(self, k + 1, row[k], error);
  }
  return SCL_STATUS_OK;
}

enum { COLUMN_PANEL = 256 };

/* K of the rows of u with rows first .. first+count-1 of v; `room` has (COLUMN_PANEL + 1) dim
 * numbers. */
static inline scl_status column_panel(const column_kernel *kernel, const void *self,
                                      const scl_const_parameters *u, const scl_const_parameters *v,
                                      size_t first, size_t count, double *room, double *out,
                                      ptrdiff_t stride, scl_error *error) {
  double *x = room, *panel = room + u->dim;
  scl_status status = SCL_STATUS_OK;
  for (size_t j = 0; status == SCL_STATUS_OK && j < count; j++)
    status = column_row(kernel, self, v, first + j, COLUMN_PANEL, panel + j, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i++) {
    double *to = out + (ptrdiff_t)i * stride + (ptrdiff_t)first;
    status = column_row(kernel, self, u, i, 1, x, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t j = 0; j < count; j++)
      to[j] = kernel->start;
    for (size_t k = 0; k < u->dim; k++)
      kernel->gather(x[k], count, panel + k * COLUMN_PANEL, to);
  }
  return status;
}

static inline scl_status column_gram(const column_kernel *kernel, const void *self,
                                     const scl_const_parameters *u, const scl_const_parameters *v,
                                     double *out, ptrdiff_t stride, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *room = host->scratch(((COLUMN_PANEL + 1) * u->dim + 1) * sizeof *room);
  if (room == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel of %zu columns",
                      u->dim);
  for (size_t first = 0; first < v->count; first += COLUMN_PANEL) {
    const size_t left = v->count - first, count = left < COLUMN_PANEL ? left : COLUMN_PANEL;
    const scl_status status =
        column_panel(kernel, self, u, v, first, count, room, out, stride, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

static inline scl_status column_diagonal(const column_kernel *kernel, const void *self,
                                         const scl_const_parameters *u, double *out,
                                         scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *x = host->scratch((u->dim + 1) * sizeof *x);
  if (x == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel of %zu columns",
                      u->dim);
  for (size_t i = 0; i < u->count; i++) {
    const scl_status status = column_row(kernel, self, u, i, 1, x, error);
    if (status != SCL_STATUS_OK) return status;
    out[i] = kernel->start;
    for (size_t k = 0; k < u->dim; k++)
      kernel->gather(x[k], 1, &x[k], &out[i]);
  }
  return SCL_STATUS_OK;
}

/* `gram` and `diagonal` of the kernel with this start and its functions `prepare`, `gather` and
 * `refuse`; the kernel by these. */
#define COLUMN_FORM(start_)                                                                        \
  static const column_kernel form = {                                                              \
      .start = start_, .prepare = prepare, .gather = gather, .refuse = refuse};                    \
  static scl_status gram(const void *self, const scl_const_parameters *u,                          \
                         const scl_const_parameters *v, double *out, ptrdiff_t stride,             \
                         scl_error *error) {                                                       \
    return column_gram(&form, self, u, v, out, stride, error);                                     \
  }                                                                                                \
  static scl_status diagonal(const void *self, const scl_const_parameters *u, double *out,         \
                             scl_error *error) {                                                   \
    return column_diagonal(&form, self, u, out, error);                                            \
  }
#define COLUMN_KERNEL                                                                              \
  SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = gram, .diagonal = diagonal)

#endif
