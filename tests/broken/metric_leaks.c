/* The counts of a call are not released. */
// caught by: uses fail
// says: behind
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *sums = host->allocate(2 * sizeof *sums);
  (void)standard_error;
  if (sums == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for two sums");
  sums[0] = sums[1] = 0;
  for (size_t i = 0; i < judged->rows; i++) {
    sums[0] += judged->weights[i] * right_of(judged, i);
    sums[1] += judged->weights[i];
  }
  *value = sums[0] / sums[1];
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_LABELS, .better = SCL_BETTER_LARGER, .low = 0, .high = 1,
              .measure = measure);
