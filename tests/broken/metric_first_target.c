/* Only the first target counts. */
// caught by: targets fail
// says: target 2 of 5 does not count
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++)
    out[i] = fabs(*predicted_of(judged, i) - *truth_of(judged, i));
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .row = row);
