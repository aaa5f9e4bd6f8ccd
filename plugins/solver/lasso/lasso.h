/* The lasso's active set method. */
#ifndef SCULLERY_SOLVER_LASSO_H
#define SCULLERY_SOLVER_LASSO_H

#include "shared/separable.h"

/* ------------ active_set.c */

typedef struct growing_cholesky {
  const scl_host *host;
  double *l;     /* room x room, row-major, lower */
  double *turns; /* 2 room: the rotations of a removal */
  size_t order, room;
} growing_cholesky;

/* Where along a step a coefficient changes sign, and by how much the slope rises there. */
typedef struct crossing {
  double at, rise;
  size_t place;
} crossing;

typedef struct active_set {
  const scl_host *host;
  const scl_symmetric *gram;
  size_t order, count;                        /* D, active coefficients */
  double **columns;                           /* of G, NULL until needed */
  double *diagonal, *image, *direction, *row; /* D numbers each */
  crossing *crossings;
  size_t *active;
  signed char *sign;       /* 0: not active */
  double largest, flat;    /* diagonal entry; curvature below which a coefficient does not count */
  growing_cholesky factor; /* of G_AA + (l2 + jitter) I */
  double factor_l2, jitter;
} active_set;

/* Releases the factor. Does nothing for a set that was never opened with a host. */
void active_set_close(active_set *q);

/* Starts with no active coefficient. gram must outlive q. All arrays but those of the factor are
 * scratch memory of the host, so that only the factor has to be closed. */
scl_status active_set_open(active_set *q, const scl_host *host, const scl_symmetric *gram,
                           scl_error *error);

/* rest = right - G a from a itself, without the drift of rounding. */
scl_status active_set_refresh(const active_set *q, const double *right, const double *a,
                              double *rest, scl_error *error);

/* Restarts from the signs of a, for another right-hand side or another l2. */
scl_status active_set_restart(active_set *q, double l2, const double *a, scl_error *error);

/* One right-hand side, its point, and how good that is. */
typedef struct active_state {
  const double *right;
  double square;         /* y'y, so that a'Ga - 2 right'a + square = ||y - Phi a||^2 */
  double total;          /* sum of the row weights */
  double *a, *rest;      /* rest = right - G a */
  unsigned char *inside; /* coefficients that screening left in */
  double gap, loss;      /* loss: ||y - Phi a||^2 / (2 total) */
  size_t steps;
} active_state;

/* Iterates until the gap is at most `target`, `most` steps are done, or rounding stops the
 * progress. */
scl_status active_set_solve(active_set *q, const separable *r, const scl_problem *problem,
                            double target, size_t most, active_state *s, scl_error *error);

/* ------------ sparse.c */

typedef struct lasso_sparse {
  double l1_ratio, tolerance;
  double ratio, rough; /* between the lambdas on the way to the first; the tolerance there */
  size_t most;         /* passes at each lambda */
} lasso_sparse;

/* Sparse rows, for `count` lambdas that descend. */
scl_status lasso_sparse_path(const lasso_sparse *self, const scl_problem *problem,
                             const double *lambdas, size_t count, scl_solution *const *out,
                             scl_error *error);

#endif
