/* A metric of two classes alone, of scores: how far the mean scores of the classes are apart, in
 * terms of the largest score, or a sentence where a class has no rows. */
#define BROKEN_NAME "good_metric_two"
#include "metric.h"

static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double sums[2] = {0}, totals[2] = {0}, largest = 0, whole = 0;
  (void)standard_error;
  for (size_t i = 0; i < judged->rows; i++)
    whole += judged->weights[i];
  for (size_t i = 0; i < judged->rows; i++) {
    const double *s = predicted_of(judged, i), w = judged->weights[i] / whole;
    const size_t y = (size_t)*truth_of(judged, i);
    const double score = judged->columns == 2 ? s[1] - s[0] : s[0];
    if (!(w > 0)) continue;
    sums[y] += w * score;
    totals[y] += w;
    largest = fmax(largest, fabs(score));
  }
  if (!(totals[0] > 0 && totals[1] > 0))
    return host->fail(error, SCL_STATUS_BAD_DATA, "all rows are of one class");
  *value = largest > 0 ? (sums[1] / totals[1] - sums[0] / totals[0]) / (2 * largest) : 0;
  return SCL_STATUS_OK;
}

BROKEN_METRIC(.needs = SCL_NEEDS_SCORES, .better = SCL_BETTER_LARGER, .most_classes = 2, .low = -1,
              .high = 1, .measure = measure);
