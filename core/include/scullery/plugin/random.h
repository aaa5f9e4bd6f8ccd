/* scullery/plugin/random.h: random numbers by place (scl_host.random).
 *
 * Philox 4x64-10: number `offset` of item `index` in (seed, stream) is the same on every machine,
 * thread count and batch, to the last bit. A component may use streams s to s+15, where s is the
 * stream that it is given, except s+1, which is reserved for the bias that the host draws. All
 * slots [any]. */
#ifndef SCULLERY_PLUGIN_RANDOM_H
#define SCULLERY_PLUGIN_RANDOM_H

#include "base.h"

typedef struct scl_address {
  uint64_t seed, stream;
} scl_address;

typedef struct scl_random {
  scl_head head;
  /* out[k] = number offset + k of the item, k < count: 64 bits; uniform on (0, 1); N(0, 1). */
  void (*bits)(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count,
               uint64_t *out);
  void (*uniform)(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count,
                  double *out);
  void (*normal)(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count,
                 double *out);
  /* The normal quantile, by which `normal` is made from `uniform`. */
  double (*inverse_normal)(double probability);
} scl_random;
#define SCL_LEAST_RANDOM SCL_THROUGH(scl_random, inverse_normal)

#endif
