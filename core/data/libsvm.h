/* LIBSVM text: label index:value ..., indices from 1 and growing, zeros left out. */
#ifndef SCULLERY_LIBSVM_H
#define SCULLERY_LIBSVM_H

#include "data/table.h"
#include "rows/source.h"

typedef struct scl_libsvm_options {
  size_t features;           /* d; 0: the largest index of all files */
  bool from_zero;            /* indices count from 0 */
  scl_choice classification; /* SCL_AUTO: when all labels are whole numbers, at most 1000 of them */
  scl_choice sparse;         /* rows; SCL_AUTO: where less than a tenth of the numbers is not 0 */
  scl_dtype dtype;
  size_t unpacked; /* bounds gzip, which is known by its first bytes (data/files/input.h) */
} scl_libsvm_options;

/* Several files are stacked; # begins a comment. Dense rows have columns called "1", "2", ...;
 * sparse rows are in out->csr, without names. */
scl_status scl_libsvm_read(const char *const *paths, size_t files,
                           const scl_libsvm_options *options, scl_table *out, scl_error *error);
/* The same from disk, block by block in each pass, in flat memory; the files are read once here. out:
 * all but x, csr and y. */
scl_status scl_libsvm_stream(const char *const *paths, size_t files,
                             const scl_libsvm_options *options, scl_table *out, scl_source **source,
                             scl_error *error);
/* Sparse rows in file order, each read once, in flat memory, of `cols` columns; labels are passed
 * over. from_zero: as in scl_libsvm_options. From a file, a pipe, or "-" for the standard input. */
scl_status scl_libsvm_once(const char *path, size_t cols, bool from_zero, scl_source **out,
                           scl_error *error);

/* What reading a file will take, from its beginning. */
typedef struct scl_libsvm_size {
  double rows, entries; /* NaN where the size of the file is not known: gzip, pipes */
} scl_libsvm_size;
scl_status scl_libsvm_estimate(const char *path, const scl_libsvm_options *options,
                               scl_libsvm_size *out, scl_error *error);

/* Write rows with a label each, whole or not at all. Numbers have as many digits as tell them
 * apart. */
scl_status scl_libsvm_write(const scl_csr *x, const double *labels, const char *path,
                            scl_error *error);

#endif
