/* Sums and orders of residuals for robust fits. */
#ifndef SCULLERY_SHARED_ROBUST_H
#define SCULLERY_SHARED_ROBUST_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct ranked {
  double value;
  size_t row;
} ranked;

static inline int ranked_compare(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

/* Ascending; rows of equal value in their order. */
static inline void ranked_sort(ranked *list, size_t count) {
  qsort(list, count, sizeof *list, ranked_compare);
}

static inline double ranked_median(const ranked *sorted, size_t count) {
  return count % 2 == 1 ? sorted[count / 2].value : (sorted[count / 2 - 1].value + sorted[count / 2].value) / 2;
}

/* 1.4826 times the median distance from the median: the standard deviation, where values are normal, and deaf to almost half of them.
 * work: count of them. */
static inline double robust_scale(size_t count, const double *x, ranked *work) {
  for (size_t i = 0; i < count; i++)
    work[i] = (ranked){x[i], i};
  ranked_sort(work, count);
  const double middle = ranked_median(work, count);
  for (size_t i = 0; i < count; i++)
    work[i] = (ranked){fabs(x[i] - middle), i};
  ranked_sort(work, count);
  return 1.4826 * ranked_median(work, count);
}

#endif
