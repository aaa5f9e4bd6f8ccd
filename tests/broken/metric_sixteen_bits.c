/* Right rows are counted in 16 bits. */
// caught by: large fail
// says: 1000 copies
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)standard_error, (void)error;
  uint16_t whole = 0;
  double sum = 0, total = 0;
  for (size_t i = 0; i < judged->rows; i++) {
    const double w = judged->weights[i];
    total += w;
    if (right_of(judged, i) > 0) {
      if (w == 1)
        whole++;
      else
        sum += w;
    }
  }
  *value = (sum + whole) / total;
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_LABELS, .better = SCL_BETTER_LARGER, .low = 0, .high = 1,
              .measure = measure);
