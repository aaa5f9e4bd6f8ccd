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
  /* Maps a number x of the data, which is in the kernel's domain, to the argument of f. */
  double (*argument)(const void *self, double x);
  /* out[j] = out[j] o f(x, y[j]), j < count */
  void (*gather)(double x, size_t count, const double *y, double *out);
} column_kernel;

/* sum_j min(x_j, y_j). */
extern const column_kernel column_minima;

scl_status column_gram(const column_kernel *kernel, const void *self, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error);

scl_status column_diagonal(const column_kernel *kernel, const void *self,
                           const scl_const_parameters *u, double *out, scl_error *error);

/* `gram` and `diagonal` of the kernel with this start and its functions `argument` and `gather`, or
 * of that column_kernel; the kernel by these. */
#define COLUMN_FORM(start_) \
  static const column_kernel form = {.start = start_, .argument = argument, .gather = gather}; \
  COLUMN_SLOTS(form)
#define COLUMN_SLOTS(form) \
  static scl_status gram(const void *self, const scl_const_parameters *u, \
                         const scl_const_parameters *v, double *out, ptrdiff_t stride, \
                         scl_error *error) { \
    return column_gram(&form, self, u, v, out, stride, error); \
  } \
  static scl_status diagonal(const void *self, const scl_const_parameters *u, double *out, \
                             scl_error *error) { \
    return column_diagonal(&form, self, u, out, error); \
  }
#define COLUMN_KERNEL \
  SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = gram, .diagonal = diagonal)

#endif
