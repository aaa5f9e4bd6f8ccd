/* How much of Newton's step to take for a convex function that is smooth in pieces, given its
 * derivative along the step. */
#ifndef SCULLERY_SHARED_NEWTON_LINE_H
#define SCULLERY_SHARED_NEWTON_LINE_H

#include <math.h>
#include <scullery/plugin.h>

/* The derivative at t of the step. */
typedef double (*newton_slope)(const void *context, double t);

/* Where the derivative is a thousandth of what it is at 0, at most 1. By regula falsi (Illinois).
 * 0: it does not go down. */
double newton_length(newton_slope slope_at, const void *context);

/* Whether the weight of a row in the matrix of Newton's step is no longer good enough. */
static inline bool newton_stale(double used, double weight) {
  return fabs(weight - used) > 0.25 * fmax(weight, used);
}

#endif
