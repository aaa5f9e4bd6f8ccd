/* What this machine can do at most: OpenBLAS on its own threads, for `scullery bench`. */
#ifndef SCULLERY_CEILING_H
#define SCULLERY_CEILING_H

#include "base.h"

/* Best of three in GFLOP/s: a product of two n x n matrices (2 n^3 operations), or syrk (n^3 counted), with as many OpenBLAS threads as the
 * pool has. */
scl_status scl_ceiling(bool syrk, scl_dtype dtype, size_t n, double *gflops, scl_error *error);

#endif
