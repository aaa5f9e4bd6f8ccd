/* The derivative of the root is not divided by 2. */
// caught by: slope fail
// says: finish says the slope
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++)
    out[i] = square_of(judged, i);
}

static double finish(const void *self, double mean, double *slope) {
  (void)self;
  *slope = 1 / sqrt(mean);
  return sqrt(mean);
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .row = row, .finish = finish);
