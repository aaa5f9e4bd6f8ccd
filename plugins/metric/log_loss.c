/* The log loss: of row i with probabilities p_i and class y_i
 *
 *   l_i = -log max(p_i,y_i, 1e-15),
 *
 * where the limit keeps the mean finite if a true class had the probability 0. */
#include <scullery/plugin.h>

static void losses(const void *self, const scl_judged *judged, double *out) {
  (void)self;
  for (size_t i = 0; i < judged->rows; i++) {
    const double *p = judged->predicted + (ptrdiff_t)i * judged->predicted_stride;
    const size_t y = (size_t)judged->truth[(ptrdiff_t)i * judged->truth_stride];
    out[i] = -log(fmax(p[y], 1e-15));
  }
}

const scl_plugin scullery_plugin = {
    .name = "log_loss",
    .summary = "the mean of -log of the probability of the true class",
    .definition =
        "value(rows) = average(rows, function(r) return -log(max(r.f[r.y + 1], 1e-15)) end)",
    .doc = "The mean over rows of -log p, p the probability of the true class. A probability of 0\n"
           "counts as 1e-15. Its standard error is that of the mean.",
    SCL_METRIC(.needs = SCL_NEEDS_PROBABILITIES, .better = SCL_BETTER_SMALLER, .low = 0,
               .high = INFINITY, .row = losses)};
