/* Calls of metrics (scullery/plugin/metric.h). */
#ifndef SCULLERY_METRIC_H
#define SCULLERY_METRIC_H

#include "plugin/instance.h"

/* The metric of all rows, and its standard error: NaN where the metric does not say it. The numbers
 * of *judged (except its head) are checked first: SCL_STATUS_BAD_DATA, BAD_SHAPE and UNSUPPORTED
 * name the row, or the number of classes. SCL_STATUS_NUMERIC: a value that is NaN or beyond the
 * limits, or a row whose part is NaN. */
scl_status scl_metric_measure(const scl_instance *metric, const scl_judged *judged, double *value,
                              double *standard_error, scl_error *error);

/* The slots of the simple form, for a metric that has them. */
scl_status scl_metric_row(const scl_instance *metric, const scl_judged *judged, double *out,
                          scl_error *error);
scl_status scl_metric_finish(const scl_instance *metric, double mean, double *value, double *slope,
                             scl_error *error);

#endif
