/* Rows are taken to follow each other without gaps. */
// caught by: guard-pages fail
// says: in plain memory
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++) {
    const double p = judged->predicted[i * judged->columns + (size_t)*truth_of(judged, i)];
    out[i] = p == p ? 1 - p : 1;
  }
}

BROKEN_METRIC(.needs = SCL_NEEDS_PROBABILITIES, .better = SCL_BETTER_SMALLER, .low = 0, .high = 1,
              .row = row);
