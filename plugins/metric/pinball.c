/* The pinball loss of a predicted quantile f of level tau (Koenker and Bassett 1978): of row i with
 * targets y_i, the mean over its targets of
 *
 *   tau (y - f) for y >= f, (1 - tau) (f - y) for y < f. */
#include <scullery/plugin.h>

typedef struct pinball {
  scl_base base;
  double tau;
} pinball;

static const scl_option options[] = {SCL_NUMBER(
    pinball, tau, "0.5", "the level of the quantile; 0.5: the median", SCL_BETWEEN(0, 1))};

static void losses(const void *instance, const scl_judged *judged, double *out) {
  const double tau = ((const pinball *)instance)->tau;
  for (size_t i = 0; i < judged->rows; i++) {
    const double *f = judged->predicted + (ptrdiff_t)i * judged->predicted_stride;
    const double *y = judged->truth + (ptrdiff_t)i * judged->truth_stride;
    double sum = 0;
    for (size_t j = 0; j < judged->columns; j++)
      sum += y[j] >= f[j] ? tau * (y[j] - f[j]) : (1 - tau) * (f[j] - y[j]);
    out[i] = sum / (double)judged->columns;
  }
}

const scl_plugin scullery_plugin = {
    .name = "pinball",
    .summary = "the pinball loss of predicted quantiles of level tau",
    .definition = "l(r) = max(tau*(r.y - r.f), (tau - 1)*(r.y - r.f))\n"
                  "value(rows) = average(rows, function(r) return by_column(r, l) end)",
    .doc =
        "The mean over rows and targets of tau (y - f) for y >= f, and (1 - tau) (f - y) for\n"
        "y < f (Koenker and Bassett 1978, Regression quantiles). Its expectation is least where\n"
        "f is the quantile of level tau of y; tau = 0.5 is half the mean absolute error.",
    SCL_METRIC(.needs = SCL_NEEDS_VALUES, .better = SCL_BETTER_SMALLER, .low = 0, .high = INFINITY,
               .row = losses),
    SCL_INSTANCE(pinball, options)};
