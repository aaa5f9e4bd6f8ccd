/* Whole matrices and orders of rows from addressed random numbers (base/random.h). */
#ifndef SCULLERY_DRAWS_H
#define SCULLERY_DRAWS_H

#include "algebra/matrix.h"

/* scl_random_uniform or scl_random_normal. */
typedef void (*scl_draw_numbers)(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                                 size_t count, double *out);

/* Fill a matrix: row i is item i of the stream SCL_STREAM_MATRIX, so that the first rows do not depend
 * on how many there are. Ctrl-C ends it early. */
void scl_matrix_draw(scl_draw_numbers fill, uint64_t seed, scl_matrix *out);

/* One place of an order of rows, beside its random key. */
typedef struct scl_keyed {
  uint64_t key;
  size_t place;
} scl_keyed;
/* The order of `count` random keys: list[i].place is the row (from 0) that comes at place i. Ctrl-C
 * ends it early. */
void scl_permute(uint64_t seed, uint64_t stream, size_t count, scl_keyed *list);

#endif
