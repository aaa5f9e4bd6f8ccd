/* Calls of metrics: the general form (slot measure), and the simple form, in which the plugin gives
 * a number for each row and the host computes their mean and its standard error. */
#include "plugin/metric.h"

#include "algebra/exact.h"
#include "plugin/call.h"
#include <math.h>

/* The metric's table, at the host's size. */
static const scl_metric *table_of(const scl_instance *metric) {
  return scl_instance_vtable(metric);
}

/* ------------ what is measured */

/* Rows and columns as the metric needs them. */
static scl_status check_shape(const scl_instance *metric, const scl_judged *judged,
                              scl_error *error) {
  const scl_metric *table = table_of(metric);
  const char *name = scl_instance_name(metric);
  const bool values = table->needs == SCL_NEEDS_VALUES;
  if (judged->rows == 0 || judged->columns == 0)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "metric.%s: there is nothing to measure", name);
  if (values != (judged->classes == 0))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "metric.%s is for %s, and these are %s", name,
                    values ? "values" : "classes", values ? "classes" : "values");
  if (table->most_classes > 0 && judged->classes > table->most_classes)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "metric.%s is for at most %u classes, and these are %zu", name,
                    table->most_classes, judged->classes);
  const bool fits = values || (table->needs == SCL_NEEDS_LABELS
                                   ? judged->columns == 1
                                   : judged->columns == judged->classes ||
                                         (table->needs == SCL_NEEDS_SCORES &&
                                          judged->columns == 1 && judged->classes == 2));
  if (fits) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                  "metric.%s: %zu columns of predictions and %zu classes", name, judged->columns,
                  judged->classes);
}

static bool is_class(double number, size_t classes) {
  return number >= 0 && number < (double)classes && number == floor(number);
}

/* Every number is finite and of its range. */
static scl_status check_numbers(const scl_instance *metric, const scl_judged *judged,
                                scl_error *error) {
  const scl_needs needs = table_of(metric)->needs;
  const size_t of_truth = needs == SCL_NEEDS_VALUES ? judged->columns : 1;
  double total = 0;
  for (size_t i = 0; i < judged->rows; i++) {
    const double *p = judged->predicted + (ptrdiff_t)i * judged->predicted_stride;
    const double *y = judged->truth + (ptrdiff_t)i * judged->truth_stride, w = judged->weights[i];
    bool right = w >= 0 && isfinite(w);
    for (size_t j = 0; j < judged->columns; j++)
      right = right && isfinite(p[j]) &&
              (needs != SCL_NEEDS_PROBABILITIES || (p[j] >= 0 && p[j] <= 1)) &&
              (needs != SCL_NEEDS_LABELS || is_class(p[j], judged->classes));
    for (size_t j = 0; j < of_truth; j++)
      right = right && isfinite(y[j]) && (judged->classes == 0 || is_class(y[j], judged->classes));
    if (!right)
      return scl_fail(
          error, SCL_STATUS_BAD_DATA,
          "metric.%s: row %zu has a prediction, a truth or a weight that is NaN or out of range",
          scl_instance_name(metric), i + 1);
    total += w;
  }
  if (total > 0 && isfinite(total)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA, "metric.%s: the weights add up to %g",
                  scl_instance_name(metric), total);
}

/* ------------ the simple form */

scl_status scl_metric_row(const scl_instance *metric, const scl_judged *judged, double *out,
                          scl_error *error) {
  scl_call call;
  scl_call_enter(&call, metric->component, "row", error);
  table_of(metric)->row(metric->self, judged, out);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

scl_status scl_metric_finish(const scl_instance *metric, double mean, double *value, double *slope,
                             scl_error *error) {
  scl_call call;
  *slope = NAN;
  scl_call_enter(&call, metric->component, "finish", error);
  *value = table_of(metric)->finish(metric->self, mean, slope);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

/* out = l, the numbers of the rows. A row of weight 0 counts 0, whatever l is. */
static scl_status rows_of(const scl_instance *metric, const scl_judged *judged, double *out,
                          scl_error *error) {
  for (size_t i = 0; i < judged->rows; i++)
    out[i] = NAN;
  SCL_TRY(scl_metric_row(metric, judged, out, error));
  for (size_t i = 0; i < judged->rows; i++) {
    if (judged->weights[i] == 0)
      out[i] = 0;
    else if (isnan(out[i]))
      return scl_fail(error, SCL_STATUS_NUMERIC, "metric.%s: row %zu counts NaN",
                      scl_instance_name(metric), i + 1);
  }
  return SCL_STATUS_OK;
}

/* The weighted mean m of l and its standard error, for n rows of a weight above 0:
 *
 *   m = sum w_i l_i / W,   error^2 = n/(n - 1) sum w_i^2 (l_i - m)^2 / W^2,   W = sum w_i.
 *
 * Sums are exact, so that they do not depend on the order of the rows. `room` has as many numbers
 * as there are rows. */
static double mean_of(const scl_judged *judged, const double *l, double *room, double *error) {
  const double *w = judged->weights;
  double total, sum, square, count = 0;
  scl_exact_sum(w, judged->rows, 1, &total);
  for (size_t i = 0; i < judged->rows; i++) {
    room[i] = w[i] * l[i];
    count += w[i] > 0;
  }
  scl_exact_sum(room, judged->rows, 1, &sum);
  const double mean = sum / total;
  for (size_t i = 0; i < judged->rows; i++)
    room[i] = w[i] / total * (l[i] - mean) * (w[i] / total * (l[i] - mean));
  scl_exact_sum(room, judged->rows, 1, &square);
  *error = count > 1 && isfinite(mean) ? sqrt(count / (count - 1) * square) : NAN;
  return mean;
}

static scl_status measure_rows(const scl_instance *metric, const scl_judged *judged, double *value,
                               double *standard_error, scl_error *error) {
  const scl_metric *table = table_of(metric);
  double *l = scl_allocate_array(2 * judged->rows, sizeof *l), slope;
  if (l == NULL)
    return scl_fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu rows", judged->rows);
  scl_status status = rows_of(metric, judged, l, error);
  if (status == SCL_STATUS_OK) *value = mean_of(judged, l, l + judged->rows, standard_error);
  scl_release(l);
  if (status != SCL_STATUS_OK || table->finish == NULL) return status;
  status = scl_metric_finish(metric, *value, value, &slope, error);
  *standard_error *= fabs(slope);
  return status;
}

/* ------------ any form */

scl_status scl_metric_measure(const scl_instance *metric, const scl_judged *judged, double *value,
                              double *standard_error, scl_error *error) {
  const scl_metric *table = table_of(metric);
  SCL_TRY(check_shape(metric, judged, error));
  SCL_TRY(check_numbers(metric, judged, error));
  scl_judged own = *judged;
  own.head = (scl_head)SCL_HEAD(scl_judged);
  *value = *standard_error = NAN;
  if (table->row != NULL) {
    SCL_TRY(measure_rows(metric, &own, value, standard_error, error));
  } else {
    scl_call call;
    scl_call_enter(&call, metric->component, "measure", error);
    SCL_TRY(
        scl_call_leave(&call, table->measure(metric->self, &own, value, standard_error, error)));
  }
  if (isnan(*value))
    return scl_fail(error, SCL_STATUS_NUMERIC, "metric.%s is NaN for these %zu rows",
                    scl_instance_name(metric), judged->rows);
  const double room = 1e-9 * (1 + fabs(*value));
  if (table->low < table->high && isfinite(*value) &&
      (*value < table->low - room || *value > table->high + room))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "metric.%s is %.17g, and says that it is within [%g, %g]",
                    scl_instance_name(metric), *value, table->low, table->high);
  if (*standard_error < 0 || !isfinite(*standard_error)) *standard_error = NAN;
  return SCL_STATUS_OK;
}
