/* It says that a log loss is at most 1. */
// caught by: range fail
// says: says that it is within [0, 1]
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++)
    out[i] = -log(fmax(predicted_of(judged, i)[(size_t)*truth_of(judged, i)], 1e-15));
}

BROKEN_METRIC(.needs = SCL_NEEDS_PROBABILITIES, .better = SCL_BETTER_SMALLER, .low = 0, .high = 1,
              .row = row);
