/* Solve (A + weight B + diag(e)) x = right, several right-hand sides at once, for symmetric
 * positive semidefinite A and B (NULL: the identity) that may be singular to working precision.
 *
 * A system that does not factor is factored with jitter on its diagonal, a share of each entry (so
 * that columns of scales 1e-9 and 1e9 are treated alike), or of their mean: 1e-12, and ten times
 * more each time until it does. The factor is then no more than a preconditioner: conjugate
 * gradients on the system without jitter (Hestenes and Stiefel 1952; Hager 1989 on refinement) go
 * on until the residual of what was asked is small,
 *
 *   max_i |right - (A + weight B + diag(e)) x|_i / s_i  <=  tolerance max_i |right|_i / s_i,
 *
 * s_i the root of the diagonal entry, for each right-hand side, and as far as
 * r'M^-1 r falls, which tells the error of predictions (M what was factored). Where it does not get
 * there, x solves the system with jitter, and the account says how much.
 *
 * Why the residual is not divided by |A||x| + |right| (Oettli and Prager 1964): that tells whether
 * x solves a system near the one asked, and conjugate gradients always get there, to 1e-14. With an
 * RKHS penalty whose least eigenvalues are below rounding, x has entries of 1e4 to 1e7 that cancel,
 * and the predictions of two such systems differ by up to percents: 300 thresholds on wdbc
 * (scripts/demo.lua), against the same system in quadruple precision, by 0.025 of the largest
 * prediction at lambda = 1e-9 and 7e-4 at 1e-6. r'M^-1 r says 1e-3 for both. */
#ifndef SCULLERY_SHARED_REFINED_SOLVE_H
#define SCULLERY_SHARED_REFINED_SOLVE_H

#include <scullery/plugin.h>

/* Set host, base, order and columns; then refined_open. The others may change between solves. */
typedef struct refined_system {
  const scl_host *host;
  const scl_symmetric *base, *extra; /* A, B; extra NULL: the identity */
  double weight;
  const double *diagonal;  /* e, order numbers not below 0; NULL: none */
  double least, tolerance; /* the first jitter, 0: 1e-12; of the residual, 0: 1e-8 */
  size_t order, columns;
  scl_symmetric *factor;                                  /* the system's own, as what follows */
  double *work;                                           /* of all arrays */
  double *unit;                                           /* s_i^2; order numbers */
  double *rest, *direction, *image, *conditioned, *spare; /* order x columns each */
  double *regularised; /* the solution with jitter, before it is improved */
  /* A column each: max |right|_i/s_i, right'M^-1 right; of the last residual r: r'M^-1 r while the
   * column has a direction, max |r|_i/s_i relative to `size`; and the error. */
  double *size, *energy, *share, *worst, *error;
} refined_system;

typedef struct refined_account {
  double jitter;   /* the largest number added to the diagonal of what x solves; 0: as asked */
  double factored; /* share of the diagonal that the factor has. At the start: that to begin with,
                      for a system like one that had to have it */
  double residual; /* relative, of the system that x solves, the largest over right-hand sides */
  double
      error; /* estimate of ||x - solution|| relative to ||solution||, both in the norm x'(A + ..)x:
                   of predictions on the rows that A sums */
  size_t iterations; /* products with the system */
} refined_account;

void refined_close(refined_system *s);

scl_status refined_open(refined_system *s, scl_error *error);

/* out: the largest |v|_i / s_i of each column */
void refined_largest(const refined_system *s, const double *v, double *out);

/* The same for another right-hand side, with the factor of the last refined_solve, whose account it
 * takes: its residual becomes that of x, and x solves the system without jitter as far as rounding
 * lets it. */
scl_status refined_again(const refined_system *s, const double *right, double *x,
                         refined_account *account, scl_error *error);

/* x (order x columns) = the solution for right, which stays as it is. Without jitter where
 * account->factored is 0 at the start and the system factors. SCL_STATUS_NUMERIC where even the
 * largest jitter, some percent of the diagonal, leaves it singular. */
scl_status refined_solve(const refined_system *s, const double *right, double *x,
                         refined_account *account, scl_error *error);

/* Reports a solution: outcome, residual, jitter and, where needed, a note. `asked`: what the
 * caller adds to the diagonal. */
void refined_tell(const refined_system *s, const refined_account *account, double asked,
                  scl_solution *out);

#endif
