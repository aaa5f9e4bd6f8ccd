/* Every row counts the same, whatever its weight. */
// caught by: weights fail
// says: copies of the rows
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)standard_error, (void)error;
  double sum = 0;
  for (size_t i = 0; i < judged->rows; i++)
    sum += right_of(judged, i);
  *value = sum / (double)judged->rows;
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_LABELS, .better = SCL_BETTER_LARGER, .low = 0, .high = 1,
              .measure = measure);
