/* It looks at the weight behind the last one. */
// caught by: guard-pages crash
// says: slot measure
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)standard_error, (void)error;
  double sum = 0, total = 0;
  for (size_t i = 0; i <= judged->rows; i++) {
    const double w = judged->weights[i];
    if (i == judged->rows) break;
    sum += w * right_of(judged, i);
    total += w;
    __asm__ volatile("" : : "x"(w));
  }
  *value = sum / total;
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_LABELS, .better = SCL_BETTER_LARGER, .low = 0, .high = 1,
              .measure = measure);
