/* A parameter may read one shared row twice. */
// caught by: pool fail
// says: twice
#include "sampler.h"

static size_t pool_rows(const void *self, size_t count, size_t fan_in) {
  (void)self, (void)count;
  return fan_in + 10;
}

static scl_status pool(const void *self, const scl_draw *draw, size_t first, size_t count,
                       size_t fan_in, int32_t *out, scl_error *error) {
  (void)error;
  for (size_t t = 0; t < count; t++)
    for (size_t k = 0; k < fan_in; k++) {
      double u;
      host_of(self)->random->uniform(draw->address.seed, draw->address.stream + 3, first + t, k, 1,
                                     &u);
      out[t * fan_in + k] = (int32_t)(u * (double)(fan_in + 10));
    }
  return SCL_STATUS_OK;
}

static const scl_ability pooled[] = {
    SCL_OFFER(SCL_ABILITY_POOL, scl_ability_pool, .rows = pool_rows, .pool = pool), {NULL, NULL}};

BROKEN_SAMPLER(pooled, .space = SCL_SPACE_DENSE, .draw = draw_right);
