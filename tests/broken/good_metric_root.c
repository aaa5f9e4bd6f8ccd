/* The root mean squared error, a function of a mean. */
#define BROKEN_NAME "good_metric_root"
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++)
    out[i] = square_of(judged, i);
}

static double finish(const void *self, double mean, double *slope) {
  (void)self;
  *slope = mean > 0 ? 0.5 / sqrt(mean) : NAN;
  return sqrt(mean);
}

BROKEN_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
              .row = row, .finish = finish);
