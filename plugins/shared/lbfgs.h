/* L-BFGS on a risk (shared/risk.h). */
#ifndef SCULLERY_SHARED_LBFGS_H
#define SCULLERY_SHARED_LBFGS_H

#include "shared/risk.h"

enum { LBFGS_PAIRS = 10 };

typedef struct lbfgs {
  const risk *risk;
  double *x, *trial, *gradient, *trial_gradient, *direction; /* size numbers each */
  double *scores, *trial_scores;                             /* n c each */
  double *slope_sum;                                         /* c */
  double *metric;          /* size numbers: risk_metric, the first guess of the inverse Hessian */
  double *steps, *changes; /* LBFGS_PAIRS x size */
  double curvature[LBFGS_PAIRS]; /* step . change of each pair */
  size_t pairs, next;
  double value;
  double *best, least, least_value; /* of float32 features: the point kept, residual, value */
  size_t idle;                      /* steps since then */
} lbfgs;

/* Starts at x = 0. All arrays are scratch memory of the host: there is nothing to close. */
scl_status lbfgs_open(lbfgs *l, const risk *r, scl_error *error);

/* The norm in which gradients are measured: of their products with the root of the metric. */
double lbfgs_norm(const lbfgs *l, const double *gradient);

/* From the first `numbers` of x, of which `start` has the values (the others are 0; NULL: all are),
 * to a gradient of `tolerance` times `unit` (0: the one at 0); fills in outcome, iterations,
 * residual and tolerance. l->x ends as the solution. Where no step lowers the value, old pairs may
 * be the reason: once more along the gradient itself. Of float32 features, whose rounding ends it, the
 * best point (lbfgs_is_better). */
scl_status lbfgs_minimise(lbfgs *l, const double *start, size_t numbers, double unit,
                          double tolerance, size_t most, scl_solution *out, scl_error *error);

#endif
