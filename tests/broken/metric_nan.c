/* The share of the variance that is explained, and 0/0 where the truth is one number. */
// caught by: edges fail
// says: is NaN for
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)standard_error, (void)error;
  double total = 0, mean = 0, square = 0, around = 0;
  for (size_t i = 0; i < judged->rows; i++) {
    const double w = judged->weights[i];
    total += w;
    mean += w / total * (w > 0 ? *truth_of(judged, i) - mean : 0);
  }
  for (size_t i = 0; i < judged->rows; i++) {
    const double gap = *truth_of(judged, i) - mean;
    square += judged->weights[i] / total * square_of(judged, i);
    around += judged->weights[i] / total * gap * gap;
  }
  *value = 1 - square / around;
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_LARGER, .low = -INFINITY, .high = 1,
              .measure = measure);
