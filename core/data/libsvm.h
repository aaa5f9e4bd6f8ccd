/* LIBSVM text: label index:value ..., indices from 1 and growing, zeros left out. */
#ifndef SCULLERY_LIBSVM_H
#define SCULLERY_LIBSVM_H

#include "data/table.h"
#include "rows/source.h"

/* Several files are stacked. Columns are called "1", "2", ...; # begins a comment; gzip is known by
 * its first bytes, and `unpacked` bounds it (data/files/input.h). features: d, 0: the largest index
 * of all files. classification: -1: when all labels are whole numbers, at most 1000 of them. */
scl_status scl_libsvm_read(const char *const *paths, size_t n_paths, size_t features,
                           int classification, scl_dtype dtype, size_t unpacked, scl_table *out,
                           scl_error *error);
/* Rows in file order, each read once by scl_source_next, in flat memory, into `cols` columns;
 * labels are passed over. From a file, a pipe, or "-" for the standard input. */
scl_status scl_libsvm_once(const char *path, size_t cols, scl_source **out, scl_error *error);

#endif
