/* Fast Walsh-Hadamard transforms and chains of them. */
#ifndef SCULLERY_SAMPLER_HADAMARD_H
#define SCULLERY_SAMPLER_HADAMARD_H

#include <scullery/plugin.h>

/* The plain transform, in place: what the fast one is checked against, and good enough where speed
 * is not the point. */
void walsh_plain(size_t size, double *x);

/* A chain of `transforms` diagonal matrices F_k, each followed by H, with the permutation Pi before
 * F_1 and one more diagonal matrix L at the end:
 *   z = L H ... H F_1 Pi H F_0 x,   (Pi y)_i = y_order[i].
 * Without `order` or `last` these two are the identity. Diagonals have the dtype of the rows. */
enum { WALSH_MOST = 3 };
typedef struct walsh_chain {
  size_t size, transforms;
  const void *factors[WALSH_MOST];
  const uint32_t *order; /* or NULL */
  const void *last;      /* or NULL */
} walsh_chain;

/* The chain on all rows of a block, z's columns `at` .. at+P-1, compiled once for each instruction
 * set. */
typedef void (*walsh_rows)(const walsh_chain *chain, const scl_const_block *x, const scl_block *z,
                           size_t at, void *scratch);
walsh_rows walsh_choose(scl_dtype dtype);

#endif
