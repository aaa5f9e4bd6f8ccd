/* Its better values are the smaller ones, and it says the larger ones. */
// caught by: better fail
// says: larger is better
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++)
    out[i] = square_of(judged, i);
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_LARGER, .low = 0, .high = INFINITY,
              .row = row);
