/* Conjugate gradients: a solve, its system, directions of several targets, and preconditioners. */
#ifndef SCULLERY_SOLVER_CG_H
#define SCULLERY_SOLVER_CG_H

#include <scullery/plugin.h>

/* ------------ directions.c */

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

/* Binds the caller's p and image (D x c numbers each) and takes scratch memory from the host, so
 * that there is nothing to close. */
scl_status directions_open(directions *d, const scl_problem *problem, double *p, double *image,
                           scl_error *error);

/* P = an orthonormal basis of the columns of z (D x c); count receives its number of columns. */
void directions_span(directions *d, const double *z);

/* The same for z made conjugate to the last block; z is overwritten. */
void directions_turn(directions *d, double *z);

/* Takes the step along P: a and residual (D x c each) are updated. image must hold A P. */
void directions_step(directions *d, double *a, double *residual);

/* ------------ preconditioner.c */

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

/* The system (Phi'W Phi + N lambda R) a = Phi'W y that is to be preconditioned. Nothing in it is
 * owned. */
typedef struct cg_system {
  const scl_problem *problem;
  const scl_symmetric *gram; /* NULL: l2 */
  double lambda, total;      /* N */
  const double *centre;      /* D numbers taken from each row, or NULL */
} cg_system;

void preconditioner_close(preconditioner *p);

/* Builds P from a sample of m = `rows` rows, drawn by seed, of a problem with dense rows. mu: the
 * damping (preconditioner.c); 0 chooses it. A wide sample (m < D, l2) is stored as float32 unless
 * `precise` is set or float32 is not accurate enough. */
scl_status precondition_by_rows(preconditioner *p, const cg_system *system, size_t rows,
                                uint64_t seed, double mu, bool precise, scl_error *error);

/* Builds P from G alone (Falkon); for features k(z, x) of landmarks z. */
scl_status precondition_by_gram(preconditioner *p, const cg_system *system, double kappa,
                                scl_error *error);

/* out = P^-1 in, D x c each, up to a factor. P = I where no preconditioner was made. */
scl_status precondition(const preconditioner *p, const double *in, double *out, scl_error *error);

/* ------------ a solve */

typedef struct cg {
  scl_base base;
  double lambda, tolerance;
  int32_t penalty, preconditioner;
  const scl_value *rank, *damping;
  size_t max_iterations;
  uint64_t seed;
} cg;

/* One solve. D x c numbers each: right, residual, z (preconditioned), p (directions), image (A p),
 * best (the a of the least residual). */
typedef struct descent {
  const cg *self;
  const scl_problem *problem;
  cg_system system;
  preconditioner preconditioner;
  directions directions;
  double *right, *residual, *z, *p, *image, *best;
  double *sums;            /* D x (c + 2): Phi'W [y 1 Phi v] */
  double *mean, *diagonal; /* D: Phi'W 1/N; the diagonal of A, sparse rows */
  double *response;        /* c + 1: mean target, and room for the sum of the weights */
  double *weighted;        /* n x (c + 1): W [y 1], while the system is made */
  double *size, *score;    /* c: norm of right; relative residual */
  const double *scale;     /* D: of the features, NULL: all of one size */
  size_t columns;          /* of the product that is made */
  double value, kappa;
  double goal;  /* of the running residual */
  double mark;  /* the least residual when gram was last judged */
  bool energy;  /* norms are those of the preconditioned system */
  bool trial;   /* gram is in use and may be given up */
  bool slow;    /* it has been */
  bool precise; /* the preconditioner is made in float64 */
} descent;

/* ------------ system.c */

/* Computes the right-hand side, the means, the sum of weights and kappa in one pass. */
scl_status cg_assemble(descent *d, scl_error *error);

/* out = A a, D x c each, in one sweep; d->z is scratch. */
scl_status cg_multiply(descent *d, const double *a, size_t c, double *out, scl_error *error);

#endif
