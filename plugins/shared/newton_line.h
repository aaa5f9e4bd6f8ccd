/* How much of Newton's step to take for a convex function that is smooth in pieces, given its
 * derivative along the step. */
#ifndef SCULLERY_SHARED_NEWTON_LINE_H
#define SCULLERY_SHARED_NEWTON_LINE_H

#include <math.h>
#include <scullery/plugin.h>

/* The derivative at t of the step. */
typedef double (*newton_slope)(const void *context, double t);

/* The step length, at most 1, where the derivative has fallen to a thousandth of that at 0, by
 * regula falsi (Illinois variant). 0 where the function does not decrease. */
double newton_length(newton_slope slope_at, const void *context);

/* Whether a row's weight in the matrix of Newton's step has changed so much that the matrix must
 * be corrected. */
static inline bool newton_stale(double used, double weight) {
  return fabs(weight - used) > 0.25 * fmax(weight, used);
}

#endif
