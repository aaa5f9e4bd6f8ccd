#include "shared/newton_line.h"

#include <stdbool.h>

double newton_length(newton_slope slope_at, const void *context) {
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
