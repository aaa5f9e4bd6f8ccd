/* The diagonal is half of what gram has there. */
// caught by: diagonal fail
#include "kernel.h"

BROKEN_GRAM_RIGHT

static scl_status diagonal(const void *self, const scl_const_parameters *u, double *out,
                           scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < u->count; i++)
    out[i] = 0.5;
  return SCL_STATUS_OK;
}

BROKEN_KERNEL(NULL, .gram = gram, .diagonal = diagonal);
