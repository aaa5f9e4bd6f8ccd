/* Counter-based random numbers: Philox 4x64-10 (Random123). Number `offset` of item `index` depends
 * only on (seed, stream, index, offset): it has the same bits for any batch size, number of threads
 * and machine. A normal number is the quantile of one uniform number, computed with IEEE +, -, *,
 * /, sqrt and SLEEF's logarithm without fused arithmetic, so that all instruction sets agree. */
#ifndef SCULLERY_RANDOM_H
#define SCULLERY_RANDOM_H

#include <scullery/plugin.h>

/* Streams. Samplers use SCL_STREAM_PARAMETERS and following, the host all others; Lua modules have
 * some of their own (lua/scullery/base/streams.lua). */
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
  SCL_STREAM_HOLDOUT = 39,
  SCL_STREAM_RELEVANCE = 40,
  SCL_STREAM_SAMPLE_PHASE = 41, /* of Monte Carlo samples */
  SCL_STREAM_POSTERIOR = 42,
  SCL_STREAM_STAGE = 80 /* .. 95 */
};

void scl_random_bits(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count,
                     uint64_t *out);
/* Uniform on the open interval (0, 1): odd multiples of 2^-53. */
void scl_random_uniform(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                        size_t count, double *out);
/* N(0, 1): scl_inverse_normal of the uniform number at the same address. */
void scl_random_normal(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                       size_t count, double *out);
/* The quantile of N(0, 1) at `probability` in (0, 1), with a relative error of about 1e-16.
 * Source: Wichura 1988, algorithm AS 241, PPND16. */
double scl_inverse_normal(double probability);

extern const scl_random scl_service_random;

#endif
