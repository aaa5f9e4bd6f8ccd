/* IDX, the format of MNIST: big-endian header, then numbers row by row. */
#ifndef SCULLERY_IDX_H
#define SCULLERY_IDX_H

#include "table.h"

/* Images (and labels, which may be NULL) of several parts, stacked; numbers times `scale`. */
scl_status scl_idx_read(const char *const *images, const char *const *labels, size_t parts, double scale, scl_dtype dtype, scl_table *out,
                        scl_error *error);

#endif
