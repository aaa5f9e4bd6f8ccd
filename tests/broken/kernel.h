/* What broken kernels share: right parts, of which each file replaces one.
 * K(u, v) = exp(-||u - v||^2/2) on dense parameters. */
#ifndef BROKEN_KERNEL_H
#define BROKEN_KERNEL_H

#include <scullery/plugin.h>

#define BROKEN_KERNEL(abilities_, ...)                                                             \
  const scl_plugin scullery_plugin = {.name = "broken",                                            \
                                      .summary = "A kernel that is wrong",                         \
                                      .doc = "exp(-||u - v||^2/2), but for what is wrong.",        \
                                      .version = "1.0",                                            \
                                      .abilities = abilities_,                                     \
                                      .instance_size = sizeof(scl_base),                           \
                                      SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), __VA_ARGS__)}

static inline const double *row_of(const scl_const_parameters *p, size_t i) {
  return p->weights + (ptrdiff_t)i * p->stride;
}

static inline double squared_distance(size_t dim, const double *u, const double *v) {
  double sum = 0;
  for (size_t j = 0; j < dim; j++)
    sum += (u[j] - v[j]) * (u[j] - v[j]);
  return sum;
}

static inline double gaussian(size_t dim, const double *u, const double *v) {
  return exp(-squared_distance(dim, u, v) / 2);
}

/* gram from a function of one pair and its places: value(u, i, v, j) */
#define BROKEN_GRAM(value)                                                                         \
  static scl_status gram(const void *self, const scl_const_parameters *u,                          \
                         const scl_const_parameters *v, double *out, ptrdiff_t stride,             \
                         scl_error *error) {                                                       \
    (void)self, (void)error;                                                                       \
    for (size_t i = 0; i < u->count; i++)                                                          \
      for (size_t j = 0; j < v->count; j++)                                                        \
        out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = value;                                         \
    return SCL_STATUS_OK;                                                                          \
  }

#define BROKEN_GRAM_RIGHT BROKEN_GRAM(gaussian(u->dim, row_of(u, i), row_of(v, j)))

#endif
