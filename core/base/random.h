/* Counter-based random numbers: Philox 4x64-10 (Random123). Number `offset` of item `index` in
 * (seed, stream) depends on these four alone: any batch, thread count and machine gives the same
 * value to the last bit. Normals come from one uniform each by the inverse distribution function,
 * computed with IEEE +, -, *, /, sqrt and a logarithm without fused arithmetic (SLEEF's consistent
 * one), so that every instruction set agrees. */
#ifndef SCULLERY_RANDOM_H
#define SCULLERY_RANDOM_H

#include <scullery/plugin.h>

/* Streams of the host's own uses; a sampler's begin at SCL_STREAM_PARAMETERS. */
enum {
  SCL_STREAM_PARAMETERS = 0,   /* .. 15 */
  SCL_STREAM_MONTE_CARLO = 16, /* .. 31 */
  SCL_STREAM_SPLIT = 32,
  SCL_STREAM_FOLDS = 33,
  SCL_STREAM_MINIBATCH = 34,
  SCL_STREAM_MATRIX = 35,
  SCL_STREAM_MEDIAN = 36,
  SCL_STREAM_PHASE = 37,
  SCL_STREAM_SAMPLE = 38,
  SCL_STREAM_HOLDOUT = 39
};

void scl_random_bits(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count,
                     uint64_t *out);
/* Uniform on the open interval (0, 1), multiples of 2^-53. */
void scl_random_uniform(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                        size_t count, double *out);
/* N(0, 1): scl_inverse_normal of the uniform with the same address. */
void scl_random_normal(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                       size_t count, double *out);
/* The quantile of N(0, 1) at probability in (0, 1), relative error about 1e-16 (Wichura 1988,
 * algorithm AS 241, PPND16). */
double scl_inverse_normal(double probability);

extern const scl_random scl_service_random;

#endif
