/* Random draws that more than one sampler needs, made of the random service's bits alone, so that
 * they are the same on every machine. */
#ifndef SCULLERY_SHARED_DRAWS_H
#define SCULLERY_SHARED_DRAWS_H

#include <scullery/plugin.h>

/* A whole number below `bound` from 64 random bits: the upper word of bits * bound, in halves to
 * stay within 64 bits. Off uniform by at most bound / 2^64. */
static inline uint64_t draw_below(uint64_t bits, uint32_t bound) {
  const uint64_t high = (bits >> 32) * bound, low = (bits & 0xffffffffu) * bound;
  return (high + (low >> 32)) >> 32;
}

/* The length of a normal vector in R^freedom, chi distributed: sqrt(2 g), g ~ Gamma(freedom/2) by
 * rejection (Marsaglia and Tsang 2000, A simple method for generating gamma variables). Attempt a
 * takes numbers 2a and 2a + 1 of the item. */
double draw_chi(const scl_random *random, scl_address address, uint64_t index, size_t freedom);

/* Shuffle (Fisher and Yates) by the bits of one item, `offset` on. The first `few` places are dealt
 * from the first `limit` entries alone. */
void draw_shuffle(const scl_random *random, scl_address address, uint64_t index, uint64_t offset,
                  size_t few, size_t limit, size_t count, uint32_t *entries);

#endif
