/* Its smoothing takes spreads for packed, whatever their strides say. */
// caught by: smoothing-blocks crash
// says: slot smooth
#include "base.h"

static scl_status apply(const void *self, const scl_const_block *z, const scl_block *out,
                        scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j++)
      ((double *)out->data)[(ptrdiff_t)i * out->row_stride + (ptrdiff_t)j] =
          cos(((const double *)z->data)[(ptrdiff_t)i * z->row_stride + (ptrdiff_t)j]);
  return SCL_STATUS_OK;
}

static scl_status smooth(const void *self, const scl_const_block *m, const scl_spread *v,
                         const scl_block *out, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j < m->cols; j++) {
      const double sd = ((const double *)v->data)[i * m->cols + j];
      const double at = ((const double *)m->data)[(ptrdiff_t)i * m->row_stride + (ptrdiff_t)j];
      ((double *)out->data)[(ptrdiff_t)i * out->row_stride + (ptrdiff_t)j] =
          exp(-sd * sd / 2) * cos(at);
    }
  return SCL_STATUS_OK;
}

static const scl_ability_smoothing smoothing = {.head = SCL_HEAD(scl_ability_smoothing),
                                                .smooth = smooth};
static const scl_ability abilities[] = {{SCL_ABILITY_SMOOTHING, &smoothing}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .apply = apply);
