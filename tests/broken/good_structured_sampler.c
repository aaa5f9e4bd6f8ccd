/* Nothing is wrong: all tests pass. */
#include "sampler.h"

static scl_status apply(const void *self, const scl_draw *draw, const scl_const_parameters *p,
                        const scl_const_block *x, const scl_block *z, scl_error *error) {
  (void)self, (void)draw, (void)error;
  const bool single = x->dtype == SCL_DTYPE_FLOAT32;
  for (size_t i = 0; i < x->rows; i++)
    for (size_t t = 0; t < p->count; t++) {
      double sum = 0;
      for (size_t j = 0; j < p->dim; j++) {
        const ptrdiff_t at = (ptrdiff_t)i * x->row_stride + (ptrdiff_t)j;
        sum += p->weights[(ptrdiff_t)t * p->stride + (ptrdiff_t)j] *
               (single ? (double)((const float *)x->data)[at] : ((const double *)x->data)[at]);
      }
      const ptrdiff_t to = (ptrdiff_t)i * z->row_stride + (ptrdiff_t)t;
      if (single)
        ((float *)z->data)[to] = (float)(sum);
      else
        ((double *)z->data)[to] = sum;
    }
  return SCL_STATUS_OK;
}

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right),
    SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured, .apply = apply, .rows = rows_right,
              .dtypes = SCL_BIT(SCL_DTYPE_FLOAT64) | SCL_BIT(SCL_DTYPE_FLOAT32)),
    {NULL, NULL}};

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_STRUCTURED, .draw = draw_right,
               .layout = layout_structured);
