/* The largest error is looked for among all rows, those of weight 0 too. */
// caught by: weights fail
// says: a row of weight 0
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  (void)self, (void)standard_error, (void)error;
  *value = 0;
  for (size_t i = 0; i < judged->rows; i++)
    *value = fmax(*value, square_of(judged, i));
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .measure = measure);
