/* Rows are written in pairs: of an odd number the last is not. */
// caught by: rows fail
// says: is not written
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i + 1 < judged->rows; i += 2) {
    out[i] = square_of(judged, i);
    out[i + 1] = square_of(judged, i + 1);
  }
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .row = row);
