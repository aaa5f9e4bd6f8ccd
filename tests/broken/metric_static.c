/* Its sums are in static memory, so that two threads disturb each other. */
// caught by: threads fail
// says: on several threads at once
#include "metric.h"

static volatile double sum, total;

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)standard_error, (void)error;
  sum = total = 0;
  for (size_t i = 0; i < judged->rows; i++) {
    sum += judged->weights[i] * right_of(judged, i);
    total += judged->weights[i];
  }
  *value = fmin(1, sum / fmax(total, 1e-300));
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_LABELS, .better = SCL_BETTER_LARGER, .low = 0, .high = 1,
              .measure = measure);
