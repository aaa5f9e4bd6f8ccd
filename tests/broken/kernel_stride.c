/* Takes the rows of its result as packed. */
// caught by: guard-pages fail
#include "kernel.h"

static scl_status gram(const void *self, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  (void)self, (void)error, (void)stride;
  for (size_t i = 0; i < u->count; i++)
    for (size_t j = 0; j < v->count; j++)
      out[i * v->count + j] = gaussian(u->dim, row_of(u, i), row_of(v, j));
  return SCL_STATUS_OK;
}

BROKEN_KERNEL(NULL, .gram = gram);
