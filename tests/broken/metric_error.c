/* Its standard error is that of one row. */
// caught by: stderr fail
// says: says the standard error
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)error;
  double sum = 0, total = 0;
  for (size_t i = 0; i < judged->rows; i++) {
    sum += judged->weights[i] * right_of(judged, i);
    total += judged->weights[i];
  }
  *value = sum / total;
  *standard_error = sqrt(*value * (1 - *value));
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_LABELS, .better = SCL_BETTER_LARGER, .low = 0, .high = 1,
              .measure = measure);
