/* Kernels that fold their parts, one after the other, into the result: sums and products. */
#ifndef SCULLERY_SHARED_KERNEL_FOLDED_H
#define SCULLERY_SHARED_KERNEL_FOLDED_H

#include <scullery/plugin.h>

/* out = out combined with the values of part k; for k = 0, the values of part 0. */
typedef void (*kernel_fold)(const void *self, size_t k, size_t count, const double *values,
                            double *out);

/* The instance of such a kernel begins with it. */
typedef struct kernel_folded {
  scl_base base;
  const scl_value *given; /* the option with the kernels */
  scl_part *parts;        /* the same kernels, bound where they need it */
  kernel_fold fold;
} kernel_folded;

scl_status folded_create(kernel_folded *self, kernel_fold fold, scl_error *error);

void folded_destroy(void *instance);

scl_status folded_gram(const void *instance, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error);

scl_status folded_diagonal(const void *instance, const scl_const_parameters *u, double *out,
                           scl_error *error);

/* Number of parts that offer the ability. */
size_t folded_count(const kernel_folded *self, const char *id);

/* As scl_plugin.ability: offered where a part needs it. */
const void *folded_binding(const void *self, const char *id);

/* The behaviour, common to all parts, where one row is subtracted from both of a pair. */
scl_shift folded_shift(const kernel_folded *self);

/* The kernel, whose instance is of that type. */
#define KERNEL_FOLDED(type) \
  SCL_KERNEL(.spaces = SCL_SPACES_KERNEL, .gram = folded_gram, .diagonal = folded_diagonal), \
      SCL_INSTANCE(type, options), .destroy = folded_destroy

#endif
