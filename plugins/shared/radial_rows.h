/* Dense rows of independent directions and lengths: one scale for all coordinates, and a
 * characteristic function of the length of x - y. */
#ifndef SCULLERY_SHARED_RADIAL_ROWS_H
#define SCULLERY_SHARED_RADIAL_ROWS_H

#include <scullery/plugin.h>

/* E exp(i <w, delta>), w in R^d and ||delta|| = distance */
typedef double (*radial_function)(const void *self, size_t d, double distance);

/* out_i = of_distance(||delta_i||). hypot keeps the length from overflowing. */
static inline scl_status radial_values(const void *self, radial_function of_distance,
                                       const scl_draw *draw, size_t rows, const double *delta,
                                       ptrdiff_t stride, double *out) {
  for (size_t i = 0; i < rows; i++) {
    double length = 0;
    for (size_t j = 0; j < draw->dim; j++)
      length = hypot(length, delta[(ptrdiff_t)i * stride + (ptrdiff_t)j]);
    out[i] = of_distance(self, draw->dim, length);
  }
  return SCL_STATUS_OK;
}

/* The sampler by its functions `draw_rows`, `law` and `of_distance`. */
#define RADIAL_CHARACTERISTIC \
  static scl_status characteristic(const void *self, const scl_draw *draw, size_t rows, \
                                   const double *delta, ptrdiff_t stride, double *out, \
                                   scl_error *error) { \
    (void)error; \
    return radial_values(self, of_distance, draw, rows, delta, stride, out); \
  }
#define RADIAL_ROWS SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw_rows)
#define RADIAL_ABILITIES \
  SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law), \
      SCL_OFFER(SCL_ABILITY_CHARACTERISTIC, scl_ability_characteristic, \
                .characteristic = characteristic)

#endif
