/* How much of Newton's step to take for a convex function that is smooth in pieces, given its
 * derivative along the step. */
#ifndef SCULLERY_SOLVER_NEWTON_LINE_H
#define SCULLERY_SOLVER_NEWTON_LINE_H

#include <math.h>
#include <stdbool.h>

/* The derivative at t of the step. */
typedef double (*newton_slope)(const void *context, double t);

/* Where the derivative is a thousandth of what it is at 0, at most 1. By regula falsi (Illinois).
 * 0: it does not go down. */
static inline double newton_length(newton_slope slope_at, const void *context) {
  const double start = slope_at(context, 0), close = -1e-3 * start;
  double low = 0, at_low = start, high = 1, at_high = slope_at(context, 1), t = 1;
  if (!(start < 0)) return 0;
  if (at_high <= close) return 1;
  for (int tries = 0, side = 0; tries < 60; tries++) {
    t = low + (high - low) * at_low / (at_low - at_high);
    if (!(t > low && t < high)) return low;
    const double slope = slope_at(context, t);
    if (fabs(slope) <= close) return t;
    if (slope < 0) {
      low = t;
      at_low = slope;
      if (side < 0) at_high /= 2;
      side = -1;
    } else {
      high = t;
      at_high = slope;
      if (side > 0) at_low /= 2;
      side = 1;
    }
  }
  return low;
}

/* Whether the weight of a row in the matrix of Newton's step is no longer good enough. */
static inline bool newton_stale(double used, double weight) {
  return fabs(weight - used) > 0.25 * fmax(weight, used);
}

#endif
