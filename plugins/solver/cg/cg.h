/* Conjugate gradients: directions of several targets, and preconditioners. */
#ifndef SCULLERY_SOLVER_CG_H
#define SCULLERY_SOLVER_CG_H

#include <scullery/plugin.h>

/* ------------------------------------------------------------ directions.c */

/* L L' = S A S up to the order of rows, of a positive semidefinite matrix A (n x n) with
 * S = diag(A)^-1/2, by pivots down to `rank`: the others are below a share of the largest. */
typedef struct pivoted {
  size_t n, rank;
  double *l, *scale; /* n x n; n, in the order of A */
  size_t *order;     /* n */
} pivoted;

typedef struct directions {
  const scl_host *host;
  size_t features, targets, count; /* count: s, columns of P */
  double *p, *image;               /* D x s: P and A P, of the caller */
  pivoted factor;                  /* of W */
  double *small, *row;             /* c x c, c */
} directions;

void directions_close(directions *d);

scl_status directions_open(directions *d, const scl_problem *problem, double *p, double *image,
                           scl_error *error);

/* P = an orthonormal basis of the columns of z (D x c). */
void directions_span(directions *d, const double *z);

/* The same, made conjugate to the last block; z is changed. */
void directions_turn(directions *d, double *z);

/* The step along P, whose image is there: a and the residual, D x c. */
void directions_step(directions *d, double *a, double *residual);

/* ------------------------------------------------------------ preconditioner.c */

typedef struct preconditioner {
  const scl_problem *problem;
  const scl_host *host;
  /* In use at most one of: the diagonal (D); a factor of order m with the sample (wide); one of
   * order D (tall); two of them (gram). */
  const double *diagonal;
  scl_symmetric *factor, *second;
  void *s;         /* D x m of dtype: the sample, transposed; tall: a piece, SAMPLE_PIECE x D */
  double *partial; /* wide: m x c */
  size_t rows;     /* m */
  scl_dtype dtype;
  bool tall;
} preconditioner;

/* What a preconditioner is made for. */
typedef struct cg_system {
  const scl_problem *problem;
  const scl_symmetric *gram; /* NULL: l2 */
  double lambda, total;      /* N */
  const double *centre;      /* D numbers taken from each row, or NULL */
} cg_system;

void preconditioner_close(preconditioner *p);

/* m rows of a problem with dense ones, drawn by seed; mu as above, 0: chosen. A wide sample is
 * float32 unless `precise` is asked for or it does not suffice. */
scl_status precondition_by_rows(preconditioner *p, const cg_system *system, size_t rows,
                                uint64_t seed, double mu, bool precise, scl_error *error);

scl_status precondition_by_gram(preconditioner *p, const cg_system *system, double kappa,
                                scl_error *error);

/* out = P^-1 in, D x c each, up to a factor; P = I where none was made */
scl_status precondition(const preconditioner *p, const double *in, double *out, scl_error *error);

#endif
