/* NumPy's .npy, versions 1 to 3: f4 and f8 kept, integers and booleans to float64; either byte
 * order, either memory order; 0 to 2 dimensions (a list of n numbers is n x 1). gzip is known by
 * its first bytes. Format: numpy.lib.format. */
#ifndef SCULLERY_NPY_H
#define SCULLERY_NPY_H

#include "rows/source.h"

/* The whole array, row by row in memory; the caller releases it. unpacked: the bound for gzip
 * (data/files/input.h). together: all processes make this call, and may divide the reading. */
scl_status scl_npy_read(const char *path, size_t unpacked, bool together, scl_matrix *out,
                        scl_error *error);
/* Whole or not at all; version 1.0, C order, the matrix' own dtype. */
scl_status scl_npy_write(const scl_matrix *a, const char *path, scl_error *error);
/* Rows in file order, each read once by scl_source_next, in flat memory, of `cols` columns: from a
 * file, a pipe, or "-" for the standard input. An array stored by columns comes as one block. */
scl_status scl_npy_once(const char *path, size_t cols, scl_source **out, scl_error *error);
/* Rows from disk in any order, on many threads; y_path may be NULL. Plain (not gzip) files in C
 * order. */
scl_status scl_npy_stream(const char *x_path, const char *y_path, scl_source **out,
                          scl_error *error);

#endif
