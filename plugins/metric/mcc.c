/* The correlation coefficient of predicted and true classes (Matthews 1975; for more than two
 * classes Gorodkin 2004, Comparing two K-category assignments by a K-category correlation
 * coefficient). With weights of sum s, the weight c of the right rows, and the weights p_k of the
 * rows predicted to be of class k, t_k of those of class k:
 *
 *   R = (c s - sum_k p_k t_k) / sqrt((s^2 - sum_k p_k^2) (s^2 - sum_k t_k^2)),
 *
 * and 0 where all rows are predicted to be of one class, or are of one class. */
#include <scullery/plugin.h>

typedef struct counts {
  double right, total;
  double *predicted, *truth; /* by class */
} counts;

static void count(const scl_judged *judged, counts *n) {
  for (size_t i = 0; i < judged->rows; i++) {
    const size_t p = (size_t)judged->predicted[(ptrdiff_t)i * judged->predicted_stride];
    const size_t y = (size_t)judged->truth[(ptrdiff_t)i * judged->truth_stride];
    const double w = judged->weights[i];
    n->predicted[p] += w;
    n->truth[y] += w;
    n->total += w;
    if (p == y) n->right += w;
  }
}

static scl_status measure(const void *instance, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  const scl_host *host = ((const scl_base *)instance)->host;
  const size_t classes = judged->classes;
  counts n = {.predicted = host->scratch(2 * classes * sizeof(double))};
  (void)standard_error; /* by the jackknife of the host */
  if (n.predicted == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu classes", classes);
  memset(n.predicted, 0, 2 * classes * sizeof(double));
  n.truth = n.predicted + classes;
  count(judged, &n);
  /* shares, so that nothing overflows: sum p_k t_k, and 1 - sum p_k^2 = sum p_k (1 - p_k) */
  double both = 0, predicted = 0, truth = 0;
  for (size_t k = 0; k < classes; k++) {
    const double p = n.predicted[k] / n.total, t = n.truth[k] / n.total;
    both += p * t;
    predicted += p * ((n.total - n.predicted[k]) / n.total);
    truth += t * ((n.total - n.truth[k]) / n.total);
  }
  const double below = sqrt(fmax(0, predicted)) * sqrt(fmax(0, truth));
  *value = below > 0 ? fmax(-1, fmin(1, (n.right / n.total - both) / below)) : 0;
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "mcc",
    .summary = "the correlation coefficient of predicted and true classes (Matthews)",
    .definition =
        "share(rows, f) = average(rows, function(r) return f(r) and 1 or 0 end)\n"
        "p(rows, k) = share(rows, function(r) return r.f == k - 1 end)\n"
        "t(rows, k) = share(rows, function(r) return r.y == k - 1 end)\n"
        "cross(rows, a, b) = sum(rows.classes, function(k) return a(rows, k)*b(rows, k) end)\n"
        "below(rows) = sqrt(max(0, 1 - cross(rows, p, p)))*sqrt(max(0, 1 - cross(rows, t, t)))\n"
        "above(rows) = share(rows, function(r) return r.f == r.y end) - cross(rows, p, t)\n"
        "value(rows) = when(below(rows) > 1e-7, above(rows)/below(rows), 0)",
    .doc = "The correlation coefficient of predicted and true classes (Matthews 1975), for more\n"
           "than two classes that of Gorodkin (2004): 1 where all labels are right, about 0 for\n"
           "labels that do not depend on the truth, and 0 where all rows are predicted to be of\n"
           "one class. Its standard error is estimated by the jackknife.",
    SCL_METRIC(.needs = SCL_NEEDS_LABELS, .better = SCL_BETTER_LARGER, .low = -1, .high = 1,
               .measure = measure)};
