/* Leaves the entries of the last parameter unwritten. */
// caught by: guard-pages fail
// says: unwritten
#include "kernel.h"

static scl_status gram(const void *self, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < u->count; i++)
    for (size_t j = 0; j + 1 < v->count; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = gaussian(u->dim, row_of(u, i), row_of(v, j));
  return SCL_STATUS_OK;
}

BROKEN_KERNEL(NULL, .gram = gram);
