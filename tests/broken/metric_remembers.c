/* The largest error of all calls so far is the limit of the errors of this one. */
// caught by: repeats fail
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  static double largest;
  (void)self;
  for (size_t i = 0; i < judged->rows; i++)
    largest = fmax(largest, square_of(judged, i));
  for (size_t i = 0; i < judged->rows; i++)
    out[i] = square_of(judged, i) / (largest + 1e-300);
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = 1,
              .row = row);
