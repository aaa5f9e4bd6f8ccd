/* The mean relative error, whose errors are divided by a small number where the truth is 0. */
#define BROKEN_NAME "good_metric_relative"
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++) {
    out[i] = 0;
    for (size_t j = 0; j < judged->columns; j++) {
      const double truth = truth_of(judged, i)[j];
      out[i] += fabs(predicted_of(judged, i)[j] - truth) / fmax(fabs(truth), 1e-6);
    }
    out[i] /= (double)judged->columns;
  }
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .row = row);
