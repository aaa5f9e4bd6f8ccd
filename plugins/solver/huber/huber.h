/* Huber's ridge regression by n x n systems. */
#ifndef SCULLERY_SOLVER_HUBER_H
#define SCULLERY_SOLVER_HUBER_H

#include "shared/risk.h"
#include "shared/weighted_dual.h"

/* ------------ dual.c */

typedef struct huber_dual {
  weighted_dual system;
  double least; /* of N lambda */
  /* n numbers each. image: K times something; taken: the u that a is of. */
  double *u, *direction, *gradient, *image, *right, *taken;
} huber_dual;

bool huber_dual_fits(const huber_dual *d);

scl_status huber_dual_open(huber_dual *d, const scl_problem *problem, scl_error *error);

/* Resets u to 0 for another target. */
void huber_dual_reset(huber_dual *d);

/* a += Phi'C (u - taken), taken = u. change: D numbers of scratch. */
scl_status huber_dual_take(huber_dual *d, double *a, double *change, scl_error *error);

/* Value and gradient at u and the constant b, whose scores are known; *norm: of the gradient in a
 * and b. */
scl_status huber_dual_differentiate(huber_dual *d, const risk *r, double b, const double *scores,
                                    double *value, double *norm, scl_error *error);

/* direction = p, *by = q, for row weights V; change (n) = what both do to the scores. */
scl_status huber_dual_direct(huber_dual *d, const risk *r, const double *weights, double *by,
                             double *change, scl_error *error);

/* *line = the risk along the direction, from b with its scores. */
scl_status huber_dual_line(const huber_dual *d, const risk *r, double b, double by,
                           const double *scores, const double *change, risk_line *line,
                           scl_error *error);

#endif
