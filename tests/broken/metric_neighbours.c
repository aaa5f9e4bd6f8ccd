/* The number of a row depends on the other rows: errors are divided by the spread of the truth. */
// caught by: rows fail
// says: among 1 rows
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  double square = 0;
  for (size_t i = 0; i < judged->rows; i++)
    square += *truth_of(judged, i) * *truth_of(judged, i) / (double)judged->rows;
  for (size_t i = 0; i < judged->rows; i++)
    out[i] = square_of(judged, i) / square;
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .row = row);
