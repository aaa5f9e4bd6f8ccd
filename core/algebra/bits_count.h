/* Counts of common bits of eight columns and eight others, for each instruction set. */
#ifndef SCULLERY_BITS_COUNT_H
#define SCULLERY_BITS_COUNT_H

#include <stddef.h>
#include <stdint.h>

typedef struct scl_bits_counter {
  const char *name;
  size_t most;    /* words that `count` takes at a time; 0: any */
  size_t widened; /* words that a word becomes before it is counted; 0: it is counted as it is */
  /* Widen `words` words of eight columns. */
  void (*widen)(size_t words, const uint64_t *from, uint64_t *to);
  /* out[8 rows at stride] += the bits that column i of left and column j of right share. */
  void (*count)(size_t words, const uint64_t *left, const uint64_t *right, uint32_t *out,
                size_t stride);
} scl_bits_counter;

/* The fastest that this machine has and SCULLERY_ISA allows. */
const scl_bits_counter *scl_bits_counter_get(void);

#endif
