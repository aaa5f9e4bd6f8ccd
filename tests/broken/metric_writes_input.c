/* Predicted probabilities are limited in place. */
// caught by: guard-pages crash
// says: slot row
#include "metric.h"

static void row(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++) {
    double *p = (double *)(uintptr_t)predicted_of(judged, i) + (size_t)*truth_of(judged, i);
    *p = fmax(*p, 1e-3);
    out[i] = -log(*p);
  }
}

BROKEN_METRIC(.needs = SCL_NEEDS_PROBABILITIES, .better = SCL_BETTER_SMALLER, .low = 0,
              .high = INFINITY, .row = row);
