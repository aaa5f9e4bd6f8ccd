/* Shared by the files symmetric*.c. */
#ifndef SCULLERY_SYMMETRIC_INTERNAL_H
#define SCULLERY_SYMMETRIC_INTERNAL_H

#include "algebra/symmetric.h"

#include <stdatomic.h>

/* symmetric_common.c: memory that the processes of a machine have in common. */
typedef struct scl_common scl_common;

struct scl_symmetric {
  size_t n, tile, across; /* across: number of tiles in a column of tiles */
  size_t rank,
      ranks;    /* the rows i of tiles with i % ranks = rank are stored, one after another: all
                         of them, or those of this process (symmetric_shared.c) */
  double *data; /* tile (i, j), j <= i, row-major; undefined above the diagonal of the matrix. NULL:
                   the matrix is a combination: */
  const scl_symmetric *const *parts; /* the sum of these, of the same order, */
  size_t n_parts;
  double factor; /* plus factor v v' */
  const double *vector;
  scl_common *common; /* data is in common memory; NULL: it is this process's own */
};

/* symmetric.c: the order of the tiles of a matrix of order n; zeros, of which the rows of tiles of
 * one of `ranks` processes are stored. */
size_t scl_symmetric_tile(size_t n);
scl_status scl_symmetric_create_rows(size_t n, size_t rank, size_t ranks, scl_symmetric **out,
                                     scl_error *error);

static inline size_t scl_tile_count(const scl_symmetric *a) {
  return a->across * (a->across + 1) / 2;
}
/* Whether row i of tiles is stored. */
static inline bool scl_tile_row_here(const scl_symmetric *a, size_t i) {
  return a->ranks == 1 || i % a->ranks == a->rank; /* one division fewer: entries ask */
}
/* Tiles before the `rows`-th row of tiles that is stored. */
static inline size_t scl_tiles_before(const scl_symmetric *a, size_t rows) {
  return rows * (a->rank + 1) + a->ranks * (rows * (rows - (rows > 0)) / 2);
}
/* Tiles that are stored. */
static inline size_t scl_tiles_here(const scl_symmetric *a) {
  return scl_tiles_before(a, (a->across + a->ranks - 1 - a->rank) / a->ranks);
}
/* A tile that is stored. */
static inline double *scl_tile_at(const scl_symmetric *a, size_t i, size_t j) {
  const size_t row = a->ranks == 1 ? i : i / a->ranks;
  return a->data + (scl_tiles_before(a, row) + j) * a->tile * a->tile;
}
/* symmetric_common.c. Whether this process writes tile (i, j) of a matrix in common memory. */
bool scl_common_mine(const scl_symmetric *a, size_t i, size_t j);
/* Whether this process writes a tile. */
static inline bool scl_tile_mine(const scl_symmetric *a, size_t i, size_t j) {
  return scl_tile_row_here(a, i) && (a->common == NULL || scl_common_mine(a, i, j));
}
/* Before a call reads all tiles of a matrix; before it writes its own. */
void scl_common_read(const scl_symmetric *a);
void scl_common_write(const scl_symmetric *a);
/* All processes meet, if the matrix is in common memory and they divide work. */
scl_status scl_common_meet(const scl_symmetric *a, scl_error *error);
/* Around additions to a part of a matrix by any process; `index` names the part. Nothing where memory
 * is not common. */
void scl_common_lock(const scl_symmetric *a, size_t index);
void scl_common_unlock(const scl_symmetric *a, size_t index);
/* The task that takes the place of task `index` of `count`, so that each process begins elsewhere. */
size_t scl_common_turn(const scl_symmetric *a, size_t index, size_t count);
/* Whether a matrix that is made like this one is common at present. */
bool scl_common_begets(const scl_symmetric *a);
void scl_common_close(scl_common *common);
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
  const atomic_bool *stop; /* once set, bands are left out; NULL: never */
} scl_product_block;
/* Rows first .. first+rows-1 of tile (i, j), of scl_symmetric_bands(a) such parts of a matrix. */
typedef struct scl_band {
  size_t index, i, j, first, rows;
} scl_band;
size_t scl_symmetric_bands(const scl_symmetric *a);
/* Called on the pool's threads with the products Phi'Phi of a band, in dtype, whose rows are as far
 * apart as those of a tile; what is above the diagonal of the matrix is undefined. Without packed
 * products a band has all rows of its tile. */
typedef void (*scl_band_visit)(void *context, const scl_band *band, const void *products);
/* Compute and visit all bands of a matrix of this order, except those that `skip` marks (by their
 * indices; NULL: none). */
scl_status scl_symmetric_products(const scl_product_block *block, scl_symmetric *like,
                                  const bool *skip, scl_band_visit visit, void *context,
                                  scl_error *error);

/* symmetric_multiply.c, symmetric_factor.c: slots of scl_symmetric_algebra. */
scl_status scl_symmetric_multiply(const scl_symmetric *a, const double *x, size_t k, double *out,
                                  scl_error *error);
/* out = A x by rows of tiles, in the calling thread: scl_multiply_left makes the rows of out that
 * belong to row i of tiles, from the tiles left of the diagonal and on it; scl_multiply_above adds
 * what tile (j, i) below it, transposed, contributes to them, for j = i+1, i+2, ...;
 * scl_multiply_finish comes last. The caller releases `columns`, whose memory is x transposed and
 * sums of the same size. */
typedef struct scl_multiplication {
  const scl_symmetric *a;
  const double *x;
  size_t k;
  double *out;
  bool more; /* add to out instead of setting it */
  double
      *columns; /* x transposed (k x n), then sums (k x n); NULL: too many columns, or no memory */
} scl_multiplication;
scl_multiplication scl_multiplication_open(const scl_symmetric *a, const double *x, size_t k,
                                           bool more, double *out);
void scl_multiply_left(const scl_multiplication *job, size_t i);
void scl_multiply_above(const scl_multiplication *job, size_t i, size_t j);
void scl_multiply_finish(const scl_multiplication *job, size_t i);
/* symmetric_shared.c: the same operations on matrices whose rows of tiles processes share. */
scl_status scl_shared_multiply(const scl_symmetric *a, const double *x, size_t k, bool more,
                               double *out, scl_error *error);
scl_status scl_shared_factor(scl_symmetric *a, size_t *pivot, scl_error *error);
scl_status scl_shared_triangular(const scl_symmetric *factor, bool transpose, double *b, size_t k,
                                 scl_error *error);
/* symmetric_divided.c: factor a matrix that every process holds; they divide the work. */
scl_status scl_divided_factor(scl_symmetric *a, const scl_symmetric_peers *peers, size_t *pivot,
                              scl_error *error);
/* symmetric_shared.c: the processes that may divide work at present, or NULL. */
const scl_symmetric_peers *scl_symmetric_dividing(void);
/* out: n numbers, right in the rows of tiles that are here. All get those of the others; NaN where
 * the exchange fails. */
void scl_shared_diagonal(const scl_symmetric *a, double *out);

/* symmetric_factor.c: strips of tiles, each a task of the pool, so that a few tiles keep all threads
 * busy. In step k a strip of tile (i, k) becomes A_ik L_kk^-T, and a strip of tile (i, j) loses A_ik
 * A_jk', i >= j > k. */
enum { SCL_STRIP = 64 };
typedef struct scl_strip {
  size_t i, j, first; /* of the tile; the first row in it */
  size_t tile, rows;  /* the side of tiles, packed; the rows of tile row i */
  size_t inner, cols; /* columns of column k of tiles, and of column j */
} scl_strip;
static inline size_t scl_strips(const scl_symmetric *a) {
  return (a->tile + SCL_STRIP - 1) / SCL_STRIP;
}
/* Strip number `index` of the tiles below the diagonal in column k (j = k), and of those behind. */
scl_strip scl_strip_below(const scl_symmetric *a, size_t k, size_t index);
scl_strip scl_strip_behind(const scl_symmetric *a, size_t k, size_t index);
void scl_strip_solve(const scl_strip *strip, const double *diagonal, double *tile);
void scl_strip_subtract(const scl_strip *strip, const double *left, const double *right,
                        double *tile);
/* SCL_STATUS_NUMERIC where a row of diagonal tile k has no positive pivot: `bad`, of its rows; else
 * bad is their number. */
scl_status scl_factor_verdict(const scl_symmetric *a, size_t k, size_t bad, size_t *pivot,
                              scl_error *error);
/* Factor tile (k, k), from which all that is due has been subtracted. */
scl_status scl_factor_diagonal(scl_symmetric *a, size_t k, size_t *pivot, scl_error *error);
/* symmetric_factor.c: slots of scl_symmetric_algebra. */
scl_status scl_symmetric_factor(scl_symmetric *a, size_t *pivot, scl_error *error);
scl_status scl_symmetric_solve(const scl_symmetric *factor, double *b, size_t k, scl_error *error);
scl_status scl_symmetric_triangular(const scl_symmetric *factor, int32_t transpose, double *b,
                                    size_t k, scl_error *error);
scl_status scl_symmetric_eigen(const scl_symmetric *a, size_t count, double *values,
                               double *vectors, scl_error *error);

#endif
