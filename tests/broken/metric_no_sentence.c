/* One row is refused without a sentence. */
// caught by: edges fail
// says: one row
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)standard_error, (void)error;
  double sum = 0, total = 0;
  if (judged->rows < 2) return SCL_STATUS_BAD_DATA;
  for (size_t i = 0; i < judged->rows; i++) {
    sum += judged->weights[i] * right_of(judged, i);
    total += judged->weights[i];
  }
  *value = sum / total;
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_LABELS, .better = SCL_BETTER_LARGER, .low = 0, .high = 1,
              .measure = measure);
