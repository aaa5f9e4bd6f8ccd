/* Symmetric float64 matrices, stored as square tiles of the lower triangle: half the memory of n x
 * n, and work that is distributed by tiles. The tile size depends only on n, so that no result
 * depends on the number of threads. scullery/plugin.h describes the operations
 * (scl_symmetric_algebra). */
#ifndef SCULLERY_SYMMETRIC_H
#define SCULLERY_SYMMETRIC_H

#include "base/memory.h"

extern const scl_symmetric_algebra scl_service_symmetric;

scl_status scl_symmetric_create(size_t n, scl_symmetric **out, scl_error *error);
void scl_symmetric_destroy(scl_symmetric *a);

/* How the processes that share matrices exchange numbers: set once by core/processes, which is
 * above this folder. meet: all come to the same operation, each with the status of its work;
 * broadcast: the bytes of process `from` become those of all; divides: whether they all make the
 * calling operation, on one machine. */
typedef struct scl_symmetric_peers {
  size_t rank, count;
  bool (*divides)(void);
  scl_status (*meet)(scl_status mine, const char *doing, size_t order, scl_error *error);
  scl_status (*broadcast)(size_t from, void *bytes, size_t size, scl_error *error);
  /* Zeros that all see, for scl_release; *out = NULL in all of them where one cannot. `mine` as for
   * `meet`. */
  scl_status (*share)(scl_status mine, size_t bytes, void **out, scl_error *error);
} scl_symmetric_peers;
/* NULL: there is one process, and no matrix is shared. */
void scl_symmetric_set_peers(const scl_symmetric_peers *peers);
/* Zeros of order n, of which each process stores some rows of tiles (symmetric_shared.c). All
 * processes then make the same calls in the same order: copy, add, scale, shift, set, diagonal,
 * multiply, factor, solve and triangular, with the bits of one process. Of `column` and `dense`,
 * what is elsewhere is NaN. */
scl_status scl_symmetric_create_shared(size_t n, scl_symmetric **out, scl_error *error);
/* Zeros of order n, once for all processes of this machine (symmetric_common.c), which make this call
 * together; where they do not, or cannot, in the memory of each. begets: a solver that calls the
 * operations above in the same order in all processes gets the matrix, and those that it makes like
 * it are common too. Reading needs no such order once all have been given the matrix. */
scl_status scl_symmetric_create_common(size_t n, bool begets, scl_symmetric **out,
                                       scl_error *error);
void scl_symmetric_set_begets(scl_symmetric *a);
bool scl_symmetric_is_common(const scl_symmetric *a);
/* Zeros of the order of `like`, shared or common if it is. */
scl_status scl_symmetric_create_like(const scl_symmetric *like, scl_symmetric **out,
                                     scl_error *error);
bool scl_symmetric_is_shared(const scl_symmetric *a);
/* The bytes of this process's rows of tiles of a matrix that `count` processes share, at most. */
double scl_symmetric_shared_bytes(double n, size_t count);
size_t scl_symmetric_order(const scl_symmetric *a);
/* The size of a matrix of order n in bytes. */
double scl_symmetric_bytes(double n);
/* The numbers of a matrix that is no combination, in the order of its tiles, for files: *size
 * bytes. */
double *scl_symmetric_numbers(scl_symmetric *a, size_t *size);

/* a += Phi'Phi for a block of rows (count x n, row stride `stride`, either dtype). float32 blocks
 * are multiplied in float32 and added in float64. */
scl_status scl_symmetric_accumulate(scl_symmetric *a, scl_dtype dtype, const void *phi,
                                    ptrdiff_t stride, size_t count, scl_error *error);
/* The most rows whose products are made at once: more rows come in parts of nearly equal size. */
size_t scl_symmetric_part_rows(const scl_symmetric *a, scl_dtype dtype);
/* a += Phi'W Phi for `count` sparse rows: row i has `value` at the columns columns[i * slots ..]
 * (ascending; -1: unused) and 0 elsewhere. weights NULL: all 1. */
void scl_symmetric_scatter(scl_symmetric *a, const int32_t *columns, size_t slots, size_t count,
                           double value, const double *weights);
/* a += factor P P' with P n x k. */
void scl_symmetric_rank(scl_symmetric *a, double factor, const double *p, size_t k);
/* Set a rectangle of the lower triangle from a packed block (rows x cols, either dtype); entries
 * above the diagonal are ignored. */
void scl_symmetric_set_block(scl_symmetric *a, size_t first_row, size_t rows, size_t first_col,
                             size_t cols, scl_dtype dtype, const void *block);
/* A read-only matrix that represents the sum parts[0] + ... + factor v v', all of order n. It
 * refers to the parts and the vector, which have to outlive it. */
scl_status scl_symmetric_combine(size_t n, const scl_symmetric *const *parts, size_t count,
                                 double factor, const double *vector, scl_symmetric **out,
                                 scl_error *error);
/* Entry (i, j), in either triangle. */
double scl_symmetric_get(const scl_symmetric *a, size_t i, size_t j);
/* Fill a matrix by a function that writes rows first_row .. first_row+rows-1 and columns first_col
 * .. first_col+cols-1 of it to out (row stride `stride`). Called on several threads at once. */
typedef scl_status (*scl_symmetric_rectangle)(void *context, size_t first_row, size_t rows,
                                              size_t first_col, size_t cols, double *out,
                                              ptrdiff_t stride, scl_error *error);
scl_status scl_symmetric_fill(scl_symmetric *a, scl_symmetric_rectangle rectangle, void *context,
                              scl_error *error);

#endif
