/* Counts of the common bits of eight columns and eight others, for each instruction set. */
#ifndef SCULLERY_BITS_COUNT_H
#define SCULLERY_BITS_COUNT_H

#include <stddef.h>
#include <stdint.h>

typedef struct scl_bits_counter {
  const char *name;
  size_t
      most; /* most words of one call of `count`, so that sums in bytes do not overflow; 0: any */
  size_t widened; /* words into which `widen` expands a word; 0: not needed */
  /* Expand `words` words of eight columns for `count`. */
  void (*widen)(size_t words, const uint64_t *from, uint64_t *to);
  /* out_ij (8 x 8, row stride `stride`) += number of common bits of column i of left and column j
   * of right. */
  void (*count)(size_t words, const uint64_t *left, const uint64_t *right, uint32_t *out,
                size_t stride);
} scl_bits_counter;

/* The fastest counter that this machine has and SCULLERY_ISA permits. */
const scl_bits_counter *scl_bits_counter_get(void);

#endif
