/* Ridge regression: estimates of the risk, and the rounding of the sums over the rows. */
#ifndef SCULLERY_SOLVER_RIDGE_H
#define SCULLERY_SOLVER_RIDGE_H

#include "shared/refined_solve.h"
#include <scullery/plugin.h>

/* ------------ estimate.c */

/* In the order of the words of ridge's option `estimate`. */
enum { ESTIMATE_NONE, ESTIMATE_LOO, ESTIMATE_LOO_ERROR, ESTIMATE_GCV };

typedef struct loo_spectrum {
  size_t order, count; /* D, and how many directions */
  double *values;      /* s, count */
  double *directions;  /* t, count x D */
} loo_spectrum;

/* The decomposition of A = Phi'R Phi against G (NULL: the identity). */
scl_status loo_decompose(const scl_host *host, const scl_symmetric *a, const scl_symmetric *g,
                         loo_spectrum *out, scl_error *error);

/* Computes out[l]->score for each lambda from its coefficients, in two passes with an intercept,
 * in one without. */
scl_status loo_by_rows(const scl_problem *problem, const loo_spectrum *spectrum, int32_t estimate,
                       double total, const double *lambdas, size_t count, scl_solution *const *out,
                       scl_error *error);

/* *score = GCV of one lambda, from the sums alone. work: D c numbers of scratch. Infinity where
 * rounding leaves nothing of the residual sum of squares. */
scl_status loo_gcv(const loo_spectrum *spectrum, const scl_normal *normal,
                   const scl_problem *problem, double lambda, const double *coefficients,
                   double *work, double *score, scl_error *error);

/* Returns the score of one lambda from the dual solution b (n x c), by `estimate`; infinity where
 * it is undefined. spectrum: that of Phi Phi'. y: n x c targets as they are; left: n + c numbers of
 * scratch. */
double loo_dual(const scl_problem *problem, const loo_spectrum *spectrum, int32_t estimate,
                double lambda, const double *b, const double *y, double *left);

/* ------------ rounding.c */

/* out (order x columns) = the residual of x from the rows */
typedef scl_status (*ridge_residual)(void *context, const double *x, double *out, scl_error *error);

typedef struct ridge_rounding {
  const refined_system *system;
  /* e; shares of the predictions: what is repaired, and how far; what no solution may keep. The
   * estimate is some ten times what rounding does. */
  double unit, careless, enough, limit;
  /* order x columns each, and the last order */
  double *change, *residual, *image, *start, *direction, *zero, *norm, *diagonal;
  double share; /* the estimate, then the last correction */
  double rest;  /* the last residual: its largest entry over that of the right-hand side, each over
                   the root of the diagonal */
  bool wide;    /* fewer rows than features */
  size_t passes;
} ridge_rounding;

scl_status rounding_open(ridge_rounding *r, const refined_system *system, double unit,
                         scl_error *error);

/* An estimate of the relative change of the predictions by rounding. */
scl_status rounding_estimate(ridge_rounding *r, const double *x, scl_error *error);

/* Reduces the effect of rounding by corrections or, where these stop falling, by conjugate
 * gradients. x is unchanged where the result would not be better. */
scl_status rounding_repair(ridge_rounding *r, ridge_residual residual, void *context,
                           const double *right, double *x, double factored, scl_error *error);

#endif
