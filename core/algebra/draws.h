/* Random matrices and permutations of rows from counter-based random numbers (base/random.h). */
#ifndef SCULLERY_DRAWS_H
#define SCULLERY_DRAWS_H

#include "algebra/matrix.h"

/* scl_random_uniform or scl_random_normal. */
typedef void (*scl_draw_numbers)(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                                 size_t count, double *out);

/* Fill a matrix. Row i is item i of the stream SCL_STREAM_MATRIX, so that it does not depend on the
 * number of rows. Returns early after Ctrl-C. */
void scl_matrix_draw(scl_draw_numbers fill, uint64_t seed, scl_matrix *out);

/* A row of a permutation, and its random key. */
typedef struct scl_keyed {
  uint64_t key;
  size_t place;
} scl_keyed;
/* A random permutation, by sorting `count` random keys: list[i].place is the row (from 0) at place
 * i. Returns early after Ctrl-C. */
void scl_permute(uint64_t seed, uint64_t stream, size_t count, scl_keyed *list);

#endif
