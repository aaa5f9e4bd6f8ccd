/* What readers of files need where several processes read one file together, each a share of it. */
#ifndef SCULLERY_SHARES_H
#define SCULLERY_SHARES_H

#include "data/table.h"

enum { SCL_SHARED_BYTES = SCL_BUFFER(1 << 20) }; /* of files that are worth the exchanges */

/* The bytes of a regular file; 0: it is none, or is empty, or its opening will tell why not, or it is
 * packed and `packed` does not allow it. */
size_t scl_shares_bytes(const char *path, bool packed);
/* After a meeting: *same = whether the paths are the same files in all processes, of one machine. */
scl_status scl_shares_same_files(const char *const *paths, size_t count, bool *same,
                                 scl_error *error);
/* All have read their shares, `mine` is the status of this process's. The numbers become the largest
 * of all; *again: some share could not be read, and each process is to read all of them, as its
 * sentence counts from the beginning. The first number is for this. */
scl_status scl_shares_end(scl_status mine, int64_t *most, size_t count, bool *again,
                          scl_error *error);
/* All get the lists of all, of `size` bytes an element, one after the other in a new one, of *count
 * elements. mine: as for scl_processes_meet. */
scl_status scl_shares_gather(scl_status mine, size_t own_count, const void *own, size_t size,
                             void **out, size_t *count, scl_error *error);
/* Before processes of one machine read rows into memory that they have in common, with a meeting:
 * *worth = the files are the same plain ones for all, and large. Each may read others. */
scl_status scl_shares_worth(const char *const *paths, size_t files, bool *worth, scl_error *error);
/* Rows that each process writes its part of, in memory that is once for all until one of them writes
 * to it. mine: the status of opening; fill: write this process's part. *read = false: some process
 * could not, and each is to read all of them. */
scl_status scl_shares_matrix(scl_status mine, size_t rows, size_t cols, scl_dtype dtype,
                             scl_status (*fill)(void *context, const scl_matrix *all,
                                                scl_error *error),
                             void *context, scl_matrix *out, bool *read, scl_error *error);
/* The labels of all. */
scl_status scl_shares_labels(scl_labels *labels, scl_error *error);

#endif
