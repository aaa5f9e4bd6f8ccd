/* What wrong metrics share: texts, the descriptor, and right metrics that they are near to. */
#ifndef BROKEN_METRIC_H
#define BROKEN_METRIC_H

#include "base.h"

/* The descriptor of a metric, from the members of its table. */
#define BROKEN_METRIC(...) \
  const scl_plugin scullery_plugin = {BROKEN_TEXTS, SCL_METRIC(__VA_ARGS__), \
                                      .instance_size = sizeof(scl_base)}

static inline const double *predicted_of(const scl_judged *judged, size_t i) {
  return judged->predicted + (ptrdiff_t)i * judged->predicted_stride;
}
static inline const double *truth_of(const scl_judged *judged, size_t i) {
  return judged->truth + (ptrdiff_t)i * judged->truth_stride;
}

/* The mean squared error over the targets of row i. */
static inline double square_of(const scl_judged *judged, size_t i) {
  double sum = 0;
  for (size_t j = 0; j < judged->columns; j++) {
    const double gap = predicted_of(judged, i)[j] - truth_of(judged, i)[j];
    sum += gap * gap;
  }
  return sum / (double)judged->columns;
}

/* Whether the label of row i is right. */
static inline double right_of(const scl_judged *judged, size_t i) {
  return *predicted_of(judged, i) == *truth_of(judged, i) ? 1 : 0;
}

#endif
