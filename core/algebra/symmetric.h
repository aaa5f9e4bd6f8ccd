/* Symmetric float64 matrices as square tiles of the lower triangle: half the memory of n x n, each
 * tile contiguous, all work spread over tiles. The tile size depends on n alone, so that no result
 * depends on the number of threads. See scl_symmetric_algebra in scullery/plugin.h for the
 * operations. */
#ifndef SCULLERY_SYMMETRIC_H
#define SCULLERY_SYMMETRIC_H

#include "base/memory.h"

extern const scl_symmetric_algebra scl_service_symmetric;

scl_status scl_symmetric_create(size_t n, scl_symmetric **out, scl_error *error);
void scl_symmetric_destroy(scl_symmetric *a);
size_t scl_symmetric_order(const scl_symmetric *a);
/* Bytes that a matrix of order n takes. */
double scl_symmetric_bytes(double n);

/* a += Phi'Phi for a block of rows (count x n, either dtype). float32 blocks are multiplied in
 * float32 and added in float64. */
scl_status scl_symmetric_accumulate(scl_symmetric *a, scl_dtype dtype, const void *phi,
                                    ptrdiff_t stride, size_t count, scl_error *error);
/* a += Phi'W Phi for rows that have `value` at columns[i slots ..] (ascending in a row, -1: none)
 * and 0 elsewhere; weights NULL: all 1. */
void scl_symmetric_scatter(scl_symmetric *a, const int32_t *columns, size_t slots, size_t count,
                           double value, const double *weights);
/* a += factor P P', P n x k float64. */
void scl_symmetric_rank(scl_symmetric *a, double factor, const double *p, size_t k);
/* Set a rectangle of the lower triangle from a packed block (rows x cols, either dtype); entries
 * above the diagonal are passed over. */
void scl_symmetric_set_block(scl_symmetric *a, size_t first_row, size_t rows, size_t first_col,
                             size_t cols, scl_dtype dtype, const void *block);
/* A matrix that stands for a sum: parts[0] + ... + factor v v', all of order n and borrowed. It is
 * read by the same functions, and never written. */
scl_status scl_symmetric_combine(size_t n, const scl_symmetric *const *parts, size_t count,
                                 double factor, const double *vector, scl_symmetric **out,
                                 scl_error *error);
/* One entry, i and j in any order. */
double scl_symmetric_get(const scl_symmetric *a, size_t i, size_t j);
/* Fill from a function that writes a rectangle: rows first_row .. +rows, columns first_col .. +cols
 * of the whole matrix, into out. Called on many threads. */
typedef scl_status (*scl_symmetric_rectangle)(void *context, size_t first_row, size_t rows,
                                              size_t first_col, size_t cols, double *out,
                                              ptrdiff_t stride, scl_error *error);
scl_status scl_symmetric_fill(scl_symmetric *a, scl_symmetric_rectangle rectangle, void *context,
                              scl_error *error);

#endif
