/* It writes a number behind the last row. */
// caught by: rows crash
// says: slot row
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++)
    out[i] = square_of(judged, i);
  ((volatile double *)out)[judged->rows] = 0;
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .row = row);
