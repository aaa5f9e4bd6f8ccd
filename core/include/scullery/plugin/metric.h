/* scullery/plugin/metric.h: metrics compare predictions with the truth, and give one number for all
 * rows, with its standard error. Of a classification they see predicted classes, scores or
 * probabilities; of a regression predicted values. The host checks the numbers before a slot sees
 * them. */
#ifndef SCULLERY_PLUGIN_METRIC_H
#define SCULLERY_PLUGIN_METRIC_H

#include "host.h"

/* What a metric is computed from. The first is for regressions, the others are for
 * classifications. */
enum {
  SCL_NEEDS_VALUES = 0, /* predicted: n x c values; truth: n x c values */
  SCL_NEEDS_LABELS,     /* predicted: n x 1, the class of each row */
  SCL_NEEDS_SCORES, /* predicted: n x classes, or for two classes n x 1: larger for the second */
  SCL_NEEDS_PROBABILITIES /* predicted: n x classes, in [0, 1] */
};
typedef int32_t scl_needs;

/* Which values of a metric are better. */
enum { SCL_BETTER_SMALLER = 0, SCL_BETTER_LARGER };
typedef int32_t scl_better;

/* Predictions and truth, float64. A class is a whole number from 0 to classes - 1. All numbers are
 * finite. */
typedef struct scl_judged {
  scl_head head;
  size_t rows;    /* n, 1 or more */
  size_t columns; /* of `predicted` */
  size_t classes; /* 2 or more; 0: values of a regression */
  const double *predicted, *truth;
  ptrdiff_t predicted_stride, truth_stride; /* numbers from one row to the next */
  /* n numbers of 0 or more, not all 0. A row of weight 0 counts as if it were absent. */
  const double *weights;
} scl_judged;
#define SCL_LEAST_JUDGED SCL_THROUGH(scl_judged, weights)

/* Simple form: slot `row`, and where the metric is a function of the mean, `finish`.
 * General form: slot `measure`. The value depends neither on the order of the rows, beyond
 * rounding, nor on a factor of all weights. */
typedef struct scl_metric {
  scl_head head;
  scl_kind kind; /* SCL_KIND_METRIC */
  scl_needs needs;
  scl_better better;
  uint32_t most_classes; /* the largest number of classes that it is defined for; 0: any */
  double low, high;      /* every value is within [low, high], or infinite; 0, 0: no limits */
  /* out[i] = the loss or gain l_i of row i, a function of row i alone. The metric is the weighted
   * mean, of which the host computes the standard error:
   *   m = sum_i w_i l_i / sum_i w_i. [any] */
  void (*row)(const void *self, const scl_judged *judged, double *out);
  /* The metric as a function of m; *slope = its derivative, for the standard error, or NaN. NULL:
   * m. [any] */
  double (*finish)(const void *self, double mean, double *slope);
  /* *value of all rows. *standard_error is preset to NaN. If the metric leaves it NaN, the host
   * computes it by the jackknife, which calls `measure` for parts of the rows. [any] */
  scl_status (*measure)(const void *self, const scl_judged *judged, double *value,
                        double *standard_error, scl_error *error);
} scl_metric;
#define SCL_LEAST_METRIC SCL_THROUGH(scl_metric, measure)
#define SCL_METRIC(...) SCL_VTABLE(SCL_KIND_METRIC, scl_metric, __VA_ARGS__)

#endif
