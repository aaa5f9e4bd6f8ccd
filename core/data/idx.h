/* IDX, the format of MNIST: a big-endian header, then numbers row by row. Byte: unsigned (0x08),
 * signed (0x09), 2 and 4 byte integers (0x0B, 0x0C), float32 (0x0D), float64 (0x0E); all dimensions
 * after the first make one row of X. gzip is known by its first bytes. */
#ifndef SCULLERY_IDX_H
#define SCULLERY_IDX_H

#include "data/table.h"

/* Images (and labels, which may be NULL) of several parts, stacked; numbers times `scale`. Columns
 * are called p1, p2, ... unpacked: the bound for gzip (data/files/input.h). */
scl_status scl_idx_read(const char *const *images, const char *const *labels, size_t parts,
                        double scale, scl_dtype dtype, size_t unpacked, scl_table *out,
                        scl_error *error);

#endif
