/* What this machine can do at most: OpenBLAS on its own threads, for `scullery bench`. */
#ifndef SCULLERY_CEILING_H
#define SCULLERY_CEILING_H

#include "base/memory.h"

/* Best of three in GFLOP/s: a product of two n x n matrices (2 n^3 operations), or syrk (n^3
 * counted), with as many OpenBLAS threads as the pool has. */
scl_status scl_ceiling(bool syrk, scl_dtype dtype, size_t n, double *gflops, scl_error *error);

/* Seconds for blocks of `rows` x d times d x features and one vector pass over each product: what
 * dense features cannot beat. pass: "none", "cos", "copy" (a multiplication in place, the cheapest
 * pass). The best of three of `blocks` blocks. */
scl_status scl_ceiling_features(scl_dtype dtype, size_t blocks, size_t rows, size_t d,
                                size_t features, const char *pass, double *seconds,
                                scl_error *error);

/* The best of three of other rates, with all threads of the pool: Cholesky factorisations of n x n
 * matrices by OpenBLAS (n^3/3 operations each; operations a second), bytes a second read from
 * memory, and products of two bits a second, counted in the nearest cache. */
typedef struct scl_rates {
  double potrf, memory, counts;
} scl_rates;
scl_status scl_ceiling_rates(size_t n, scl_rates *out, scl_error *error);

/* Seconds for Phi'Phi of rows x features, the best of three, or of fewer where these take long: of
 * float32 numbers in blocks of 2048 rows, by this library and by OpenBLAS's ssyrk (each thread sums
 * its own blocks), and of bits. */
typedef struct scl_gram_seconds {
  double numbers, openblas, bits;
} scl_gram_seconds;
scl_status scl_ceiling_gram(size_t rows, size_t features, scl_gram_seconds *out, scl_error *error);

#endif
