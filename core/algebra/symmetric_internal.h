/* Shared by the files symmetric*.c. */
#ifndef SCULLERY_SYMMETRIC_INTERNAL_H
#define SCULLERY_SYMMETRIC_INTERNAL_H

#include "algebra/symmetric.h"

struct scl_symmetric {
  size_t n, tile, across; /* across: number of tiles in a column of tiles */
  double *data; /* tile (i, j), j <= i, at (i (i+1)/2 + j) tile^2, row-major; undefined above
                   the diagonal of the matrix. NULL: the matrix is a combination: */
  const scl_symmetric *const *parts; /* the sum of these, of the same order, */
  size_t n_parts;
  double factor; /* plus factor v v' */
  const double *vector;
};

/* symmetric.c: the order of the tiles of a matrix of order n. */
size_t scl_symmetric_tile(size_t n);

static inline size_t scl_tile_count(const scl_symmetric *a) {
  return a->across * (a->across + 1) / 2;
}
static inline double *scl_tile_at(const scl_symmetric *a, size_t i, size_t j) {
  return a->data + (i * (i + 1) / 2 + j) * a->tile * a->tile;
}
static inline size_t scl_tile_rows(const scl_symmetric *a, size_t i) {
  return scl_min(a->tile, a->n - i * a->tile);
}

/* Tile number k, counted from the last row of tiles, so that the longest rows start first. */
static inline void scl_tile_place(const scl_symmetric *a, size_t k, size_t *row, size_t *col) {
  size_t left = k, i = a->across - 1;
  while (left > i) {
    left -= i + 1;
    i--;
  }
  *row = i;
  *col = left;
}

/* symmetric_accumulate.c. Rows of features, count x n in dtype. */
typedef struct scl_product_block {
  scl_dtype dtype;
  const void *phi;
  ptrdiff_t stride;
  size_t count;
} scl_product_block;
/* Called on the pool's threads with tile (i, j) of the products Phi'Phi, in dtype, packed as a tile
 * of the matrix; what is above the diagonal of the matrix is undefined. */
typedef void (*scl_tile_visit)(void *context, size_t i, size_t j, const void *products);
/* Compute and visit all tiles of a matrix of this order, except those that `skip` marks (by their
 * number in scl_tile_place; NULL: none). */
scl_status scl_symmetric_products(const scl_product_block *block, scl_symmetric *like,
                                  const bool *skip, scl_tile_visit visit, void *context,
                                  scl_error *error);

/* symmetric_multiply.c, symmetric_factor.c: slots of scl_symmetric_algebra. */
scl_status scl_symmetric_multiply(const scl_symmetric *a, const double *x, size_t k, double *out,
                                  scl_error *error);
scl_status scl_symmetric_factor(scl_symmetric *a, size_t *pivot, scl_error *error);
scl_status scl_symmetric_solve(const scl_symmetric *factor, double *b, size_t k, scl_error *error);
scl_status scl_symmetric_triangular(const scl_symmetric *factor, int32_t transpose, double *b,
                                    size_t k, scl_error *error);
scl_status scl_symmetric_eigen(const scl_symmetric *a, size_t count, double *values,
                               double *vectors, scl_error *error);

#endif
