/* Ridge regression with a kernel: the system, in tiles, and conjugate gradients on it. */
#ifndef SCULLERY_SOLVER_KERNEL_RIDGE_H
#define SCULLERY_SOLVER_KERNEL_RIDGE_H

#include "shared/expansion.h"
#include "shared/rows.h"

/* ------------ system.c */

enum { TILE = EXPANSION_TILE };

typedef struct kernel_ridge {
  scl_base base;
  scl_part kernel;
  double lambda;
  int32_t precision, method;
  bool intercept;
  size_t rank;      /* of the preconditioner; 0: by the number of rows */
  double tolerance; /* of conjugate gradients without a factor */
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
  double *f;                     /* rows x rank: K ~ F F'; NULL: a factor is the preconditioner */
  size_t rank;
  scl_symmetric *inner;    /* the factor of I + F' diag(shift)^-1 F */
  double *inverted;        /* 2 x rank x (targets + 1) */
  double *shift;           /* rows: n lambda / w_i */
  double *diagonal;        /* rows: K(x_i, x_i) */
  double *ones;            /* rows: A^-1 1, for the intercept */
  double *residual;        /* rows x targets: y - f0 - A b */
  double *right;           /* 2 x targets */
  size_t iterations, most; /* of conjugate gradients, and where they end */
  destination to;          /* of the tiles that are being filled */
  size_t strip;            /* first row of the tiles in turn */
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

/* Collects the rows and moves x and the pilot to the expansion; the targets and weights stay in the
 * set. Rows are centred where the kernel allows it. */
scl_status linear_system_collect(linear_system *s, scl_error *error);

/* Allocates the vectors of the system: scratch memory, and the members of the model, which
 * outlive the call. Computes the diagonal of K. */
scl_status linear_system_reserve(linear_system *s, scl_error *error);

/* Keeps K where its tiles take no more than the allowance less `taken` bytes. */
scl_status linear_system_keep(linear_system *s, double taken, scl_error *error);

/* Fills the lower triangle of tiles in the given destination, a strip of tiles at a time, and
 * reports progress between strips. */
scl_status linear_system_fill(linear_system *s, destination to, scl_error *error);

/* out (n x k) = (K + diag(shift), with the jitter where it is part of the system) x */
scl_status linear_system_product(const linear_system *s, const double *x, size_t k, double *out,
                                 scl_error *error);

/* ------------ low_rank.c */

/* The rank of F for so many rows. */
size_t low_rank_of(const kernel_ridge *self, size_t rows);

/* s->f and s->inner, which the caller releases; once for all lambdas. */
scl_status low_rank_open(linear_system *s, scl_error *error);

/* s->inner for s->shift, which must be above 0. */
scl_status low_rank_factor(linear_system *s, scl_error *error);

/* z (n x k) = (F F' + diag(shift))^-1 z */
scl_status low_rank_solve(const linear_system *s, double *z, size_t k, scl_error *error);

/* ------------ gradients.c */

/* b (n x k) = A^-1 b, to a residual of `within` times each column's largest entry, or after `most`
 * steps. *iterations grows by the number of steps. s holds the factor that serves as the
 * preconditioner. */
scl_status gradients_solve(const linear_system *s, double *b, size_t k, double within, size_t most,
                           size_t *iterations, scl_error *error);

#endif
