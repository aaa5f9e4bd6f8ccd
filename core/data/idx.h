/* IDX, the format of MNIST: a big-endian header, then numbers row by row. Byte: unsigned (0x08),
 * signed (0x09), 2 and 4 byte integers (0x0B, 0x0C), float32 (0x0D), float64 (0x0E); all dimensions
 * after the first make one row of X. gzip is known by its first bytes. */
#ifndef SCULLERY_IDX_H
#define SCULLERY_IDX_H

#include "data/table.h"
#include "rows/source.h"

typedef struct scl_idx_options {
  double scale;    /* factor of the images' numbers */
  scl_dtype dtype; /* of X; the rows of a stream are rounded to it */
  size_t unpacked; /* bound for gzip files that are kept in memory (data/files/input.h) */
} scl_idx_options;

/* Files of images, and of labels (NULL: none), one for each of `parts`, stacked. Columns are called
 * p1, p2, ... With labels, the table is a classification. */
scl_status scl_idx_read(const char *const *images, const char *const *labels, size_t parts,
                        const scl_idx_options *options, scl_table *out, scl_error *error);
/* The same as a source that reads the images, plain or gzip but not pipes, in each pass, in file
 * order. The labels are in memory: 8 bytes for each row. The table has neither X nor y. */
scl_status scl_idx_stream(const char *const *images, const char *const *labels, size_t parts,
                          const scl_idx_options *options, scl_table *out, scl_source **source,
                          scl_error *error);

#endif
