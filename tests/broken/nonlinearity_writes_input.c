/* Takes its input for scratch. */
// caught by: guard-pages crash
// says: slot apply
#include "base.h"

static scl_status apply(const void *self, const scl_const_block *z, const scl_block *out,
                        scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < z->rows; i++) {
    double *from = (double *)(uintptr_t)z->data + (ptrdiff_t)i * z->row_stride;
    double *to = (double *)out->data + (ptrdiff_t)i * out->row_stride;
    for (size_t j = 0; j < z->cols; j++) {
      from[j] *= from[j];
      to[j] = from[j];
    }
  }
  return SCL_STATUS_OK;
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .apply = apply);
