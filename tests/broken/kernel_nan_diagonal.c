/* The diagonal of one parameter is NaN. */
// caught by: diagonal fail
// says: NaN
#include "kernel.h"

BROKEN_GRAM_RIGHT

static scl_status diagonal(const void *self, const scl_const_parameters *u, double *out,
                           scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < u->count; i++)
    out[i] = i == 3 ? NAN : 1;
  return SCL_STATUS_OK;
}

BROKEN_KERNEL(NULL, .gram = gram, .diagonal = diagonal);
