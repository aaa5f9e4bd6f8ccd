/* The Brier score (Brier 1950, Verification of forecasts expressed in terms of probability): of row
 * i with probabilities p_i and class y_i
 *
 *   l_i = sum_k (p_ik - [y_i = k])^2, for two classes (p_i1 - [y_i = 1])^2, which is half of it. */
#include <scullery/plugin.h>

static void squares(const void *self, const scl_judged *judged, double *out) {
  const size_t first = judged->classes == 2 ? 1 : 0;
  (void)self;
  for (size_t i = 0; i < judged->rows; i++) {
    const double *p = judged->predicted + (ptrdiff_t)i * judged->predicted_stride;
    const size_t y = (size_t)judged->truth[(ptrdiff_t)i * judged->truth_stride];
    out[i] = 0;
    for (size_t k = first; k < judged->classes; k++) {
      const double gap = p[k] - (k == y ? 1 : 0);
      out[i] += gap * gap;
    }
  }
}

const scl_plugin scullery_plugin = {
    .name = "brier",
    .summary = "the Brier score: the mean squared distance of probabilities from the class",
    .definition =
        "squares(r, n) = sum(n, function(k) return (r.f[k] - (k - 1 == r.y and 1 or 0))^2 end)\n"
        "value(rows) = average(rows, function(r) return squares(r, #r.f)/(#r.f == 2 and 2 or 1) "
        "end)",
    .doc = "The mean over rows of the squared distance of the probabilities from 1 for the true\n"
           "class and 0 for the others (Brier 1950); for two classes that of the second class\n"
           "alone, which is half of it. Its standard error is that of the mean.",
    SCL_METRIC(.needs = SCL_NEEDS_PROBABILITIES, .better = SCL_BETTER_SMALLER, .low = 0,
               .high = INFINITY, .row = squares)};
