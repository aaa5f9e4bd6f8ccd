/* Upper limits of this machine, measured for comparison by `scullery bench`. */
#ifndef SCULLERY_CEILING_H
#define SCULLERY_CEILING_H

#include "algebra/whole.h"

/* GFLOP/s, the best of three runs, of OpenBLAS on all threads of the pool, each with its own
 * product of two n x n matrices (2 n^3 operations) or syrk (n^3 operations). */
scl_status scl_ceiling(bool syrk, scl_dtype dtype, size_t n, double *gflops, scl_error *error);

/* Seconds, the best of three runs, for `blocks` products of rows x d times d x features and one
 * elementwise pass over each product: a lower limit for dense features. pass: "none", "cos", "copy"
 * (a multiplication in place, the cheapest pass). */
scl_status scl_ceiling_features(scl_dtype dtype, size_t blocks, size_t rows, size_t d,
                                size_t features, const char *pass, double *seconds,
                                scl_error *error);

/* Other rates per second, the best of three runs on all threads of the pool. potrf: operations of
 * Cholesky factorisations of n x n matrices by OpenBLAS (n^3/3 each); memory: bytes read from
 * memory; counts: products of two bits, counted in the first-level cache. */
typedef struct scl_rates {
  double potrf, memory, counts;
} scl_rates;
scl_status scl_ceiling_rates(size_t n, scl_rates *out, scl_error *error);

/* Seconds for Phi'Phi with Phi rows x features, the best of up to three runs: of float32 numbers in
 * blocks of 2048 rows, by this library and by OpenBLAS's ssyrk (each thread sums its own blocks),
 * and of bits. */
typedef struct scl_gram_seconds {
  double numbers, openblas, bits;
} scl_gram_seconds;
scl_status scl_ceiling_gram(size_t rows, size_t features, scl_gram_seconds *out, scl_error *error);
/* The same of whole numbers by this library, and of as many float32 numbers by OpenBLAS's ssyrk. */
typedef struct scl_whole_seconds {
  double whole, openblas;
} scl_whole_seconds;
scl_status scl_ceiling_whole(scl_whole type, size_t rows, size_t features, scl_whole_seconds *out,
                             scl_error *error);

#endif
