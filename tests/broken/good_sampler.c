/* Nothing is wrong: all tests pass. */
#include "sampler.h"

static scl_status characteristic(const void *self, const scl_draw *draw, size_t rows,
                                 const double *delta, ptrdiff_t stride, double *out,
                                 scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < draw->dim; j++) {
      const double gap = delta[(ptrdiff_t)i * stride + (ptrdiff_t)j];
      sum += gap * gap;
    }
    out[i] = exp(-sum / 2);
  }
  return SCL_STATUS_OK;
}

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right),
    SCL_OFFER(SCL_ABILITY_CHARACTERISTIC, scl_ability_characteristic,
              .characteristic = characteristic),
    {NULL, NULL}};

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_DENSE, .draw = draw_right);
