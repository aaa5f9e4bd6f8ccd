/* The accuracy in the general form, with its own standard error. */
#define BROKEN_NAME "good_metric_error"
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  double sum = 0, total = 0, square = 0;
  (void)self, (void)error;
  for (size_t i = 0; i < judged->rows; i++)
    total += judged->weights[i];
  for (size_t i = 0; i < judged->rows; i++)
    sum += judged->weights[i] / total * right_of(judged, i);
  for (size_t i = 0; i < judged->rows; i++) {
    const double part = judged->weights[i] / total * (right_of(judged, i) - sum);
    square += part * part;
  }
  *value = sum;
  *standard_error = sqrt(square);
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_LABELS, .better = SCL_BETTER_LARGER, .low = 0, .high = 1,
              .measure = measure);
