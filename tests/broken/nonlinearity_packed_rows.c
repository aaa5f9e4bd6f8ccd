/* Takes rows for adjacent, whatever the row stride says. */
// caught by: strides fail
// says: row stride
#include "base.h"

static scl_status apply(const void *self, const scl_const_block *z, const scl_block *out,
                        scl_error *error) {
  const double *from = z->data;
  double *to = out->data;
  (void)self, (void)error;
  for (size_t j = 0; j < z->rows * z->cols; j++)
    to[j] = from[j] * from[j];
  return SCL_STATUS_OK;
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .apply = apply);
