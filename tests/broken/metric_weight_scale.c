/* The sum of the weights is taken for the number of rows. */
// caught by: weights fail
// says: 8 times as large
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)standard_error, (void)error;
  double sum = 0, total = 0;
  for (size_t i = 0; i < judged->rows; i++) {
    sum += judged->weights[i] * square_of(judged, i);
    total += judged->weights[i];
  }
  *value = sum / fmax(total - 1, 0.5);
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .measure = measure);
