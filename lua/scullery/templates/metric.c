/* The focal loss of probabilities (Lin et al. 2017, Focal loss for dense object detection,
 * equation 4, with alpha = 1). Of row i with probabilities p_i and class y_i, p = p_i,y_i:
 *
 *   l_i = -(1 - p)^gamma log p,   p at least 1e-15.
 *
 * The metric is the weighted mean of l_i; gamma = 0 is the log loss. */
#include <scullery/plugin.h>

typedef struct focal {
  scl_base base; /* what the host offers, and the options as they came */
  double gamma;  /* the host writes it before anything is called */
} focal;

static const scl_option options[] = {SCL_NUMBER(
    focal, gamma, "2", "how much less rows count whose class is likely", SCL_NOT_NEGATIVE)};

/* out[i] = l_i for every row. Rows are `predicted_stride` numbers apart, classes count from 0. The
 * host takes the mean, with the weights of the rows, and its standard error. */
static void losses(const void *instance, const scl_judged *judged, double *out) {
  const focal *self = instance;
  for (size_t i = 0; i < judged->rows; i++) {
    const double *p = judged->predicted + (ptrdiff_t)i * judged->predicted_stride;
    const size_t y = (size_t)judged->truth[(ptrdiff_t)i * judged->truth_stride];
    out[i] = -pow(1 - p[y], self->gamma) * log(fmax(p[y], 1e-15));
  }
}

/* Probabilities are needed, smaller values are better, and none is below 0. A metric that is a
 * function of the mean has the slot `finish`; one that is no mean has `measure` in place of
 * `row`. */
const scl_plugin scullery_plugin = {
    .name = "my_plugin",
    .summary = "the focal loss: a log loss in which likely classes count less",
    .definition = "l(p) = -(1 - p)^gamma*log(max(p, 1e-15))\n"
                  "value(rows) = average(rows, function(row) return l(row.f[row.y + 1]) end)",
    .doc = "The mean over rows of -(1 - p)^gamma log p, p the probability of the true class, at\n"
           "least 1e-15 (Lin et al. 2017, equation 4 with alpha = 1). gamma = 0 is the log loss.",
    SCL_METRIC(.needs = SCL_NEEDS_PROBABILITIES, .better = SCL_BETTER_SMALLER, .low = 0,
               .high = INFINITY, .row = losses),
    SCL_INSTANCE(focal, options),
    .version = "0.1"};
