/* Ridge regression with a kernel: the system, in tiles, and conjugate gradients on it. */
#ifndef SCULLERY_SOLVER_KERNEL_RIDGE_H
#define SCULLERY_SOLVER_KERNEL_RIDGE_H

#include "shared/expansion.h"
#include "shared/rows.h"

/* ------------------------------------------------------------ system.c */

enum { TILE = EXPANSION_TILE };

typedef struct kernel_ridge {
  scl_base base;
  scl_part kernel;
  double lambda;
  int32_t precision;
  bool intercept;
} kernel_ridge;

/* Destination of a tile of kernel values. */
typedef enum destination {
  TO_SYSTEM, /* a = K + diag(shift) + jitter I */
  TO_KEPT,   /* kept = K */
  TO_FLOAT32 /* narrow = K + diag(shift) */
} destination;

typedef struct linear_system {
  const kernel_ridge *self;
  const scl_host *host;
  const scl_problem *problem;
  row_set set; /* its x and pilot move to m */
  expansion m; /* the rows, and the solution */
  double lambda;
  scl_symmetric *a; /* in float64 */
  double jitter;    /* added to the diagonal of a, */
  bool jittered;    /* and of the system that is being solved */
  double *kept; /* tiles of K's lower triangle, TILE x TILE each, row by row; NULL: made again */
  const scl_symmetric_float32_algebra *algebra;
  scl_symmetric_float32 *narrow; /* NULL: the system is solved in float64 */
  double *shift;                 /* rows: n lambda / w_i */
  double *diagonal;              /* rows: K(x_i, x_i) */
  double *ones;                  /* rows: A^-1 1, for the intercept */
  double *residual;              /* rows x targets: y - f0 - A b */
  double *right;                 /* 2 x targets */
  size_t iterations, most;       /* of conjugate gradients, and where they end */
  destination to;                /* of the tiles that are being filled */
  size_t strip;                  /* first row of the tiles in turn */
} linear_system;

/* out (u->count x v->count at `stride`) = K(u_i, v_j), by the kernel of the options. */
scl_status kernel_ridge_gram(const void *instance, const scl_const_parameters *u,
                             const scl_const_parameters *v, double *out, ptrdiff_t stride,
                             scl_error *error);

/* Rows first .. of the expansion, at most `most` of them, as parameters of the kernel. */
static inline scl_const_parameters rows_at(const linear_system *s, size_t first, size_t most) {
  const size_t left = s->m.rows - first, d = s->m.cols;
  return scl_dense_rows(s->m.x + first * d, (ptrdiff_t)d, left < most ? left : most, d);
}

/* Number of tiles along a side, and in the lower triangle of so many along a side. */
static inline size_t tiles_of(size_t rows) { return (rows + TILE - 1) / TILE; }
static inline size_t triangle(size_t tiles) { return tiles * (tiles + 1) / 2; }

/* Fills the lower triangle of tiles in the given destination, a strip of tiles at a time, and
 * reports progress between strips. */
scl_status linear_system_fill(linear_system *s, destination to, scl_error *error);

/* out (n x k) = (K + diag(shift), with the jitter where it is part of the system) x */
scl_status linear_system_product(const linear_system *s, const double *x, size_t k, double *out,
                                 scl_error *error);

/* ------------------------------------------------------------ gradients.c */

/* b (n x k) = A^-1 b, to a residual of `within` times each column's largest entry, or after `most`
 * steps. *iterations grows by the number of steps. s holds the factor that serves as the
 * preconditioner. */
scl_status gradients_solve(const linear_system *s, double *b, size_t k, double within, size_t most,
                           size_t *iterations, scl_error *error);

#endif
