/* Categories of one number, for the plugins of the gallery: sign(z) as codes 0 and 1. Each file
 * says how it numbers them, by BROKEN_CODE(z), and how many words it writes. */
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? 1 : -1;
}

static scl_status key(const void *self, size_t planes, size_t *words, size_t *levels,
                      scl_error *error) {
  (void)self, (void)planes, (void)error;
  *words = BROKEN_WORDS;
  *levels = BROKEN_WORDS > 1 ? 0 : 2;
  return SCL_STATUS_OK;
}

static scl_status categories(const void *self, const scl_const_block *z, int32_t *out,
                             ptrdiff_t row_stride, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < z->rows; i++) {
    const double *from = (const double *)z->data + (ptrdiff_t)i * z->row_stride;
    for (size_t j = 0; j < z->cols; j++)
      out[(ptrdiff_t)i * row_stride + (ptrdiff_t)(j * BROKEN_WORDS)] = BROKEN_CODE(from[j]);
  }
  return SCL_STATUS_OK;
}

static const scl_ability_categories coded = {SCL_HEAD(scl_ability_categories), key, categories};
