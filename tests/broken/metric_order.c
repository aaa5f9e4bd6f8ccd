/* Rows are compared with the rows before them. */
// caught by: order fail
// says: rows in another order
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)standard_error, (void)error;
  double mean = 0;
  *value = 0;
  for (size_t i = 0; i < judged->rows; i++) {
    mean += 0.1 * (square_of(judged, i) - mean);
    *value = fmax(*value, mean);
  }
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .measure = measure);
