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

/* Seconds for Phi'Phi of rows x features, the best of three: of float32 numbers in blocks of 2048
 * rows, and of bits. */
scl_status scl_ceiling_gram(size_t rows, size_t features, double *numbers, double *bits,
                            scl_error *error);

#endif
