/* Cells of pitches Gamma(2, 1) are shared with probability exp(-||x - y||_1), and it says exp(-||x - y||_2). */
// caught by: collision fail
#include "sampler.h"

static scl_status draw_grid(const void *self, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++)
    for (size_t j = 0; j < out->dim; j++) {
      double u[3], *w = weights_of(out, i);
      host_of(self)->random->uniform(draw->address.seed, draw->address.stream, out->first + i,
                                     3 * j, 3, u);
      w[j] = -log(u[0] * u[1]); /* Gamma(2, 1) */
      w[out->dim + j] = w[j] * u[2];
    }
  return SCL_STATUS_OK;
}

static scl_status collision(const void *self, const scl_draw *draw, size_t rows,
                            const double *delta, ptrdiff_t stride, double *out, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < draw->dim; j++)
      sum +=
          delta[(ptrdiff_t)i * stride + (ptrdiff_t)j] * delta[(ptrdiff_t)i * stride + (ptrdiff_t)j];
    out[i] = exp(-sqrt(sum));
  }
  return SCL_STATUS_OK;
}

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_COLLISION, scl_ability_collision, .collision = collision), {NULL, NULL}};

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_GRID, .draw = draw_grid);
