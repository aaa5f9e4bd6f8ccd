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

/* The value that half of the weight lies below: where two share it, their mean. Whole weights count
 * as so many rows. */
static inline double ranked_median(const ranked *sorted, size_t count, const double *weights) {
  double total = 0, below = 0;
  for (size_t k = 0; k < count; k++)
    total += weights[sorted[k].row];
  for (size_t k = 0; k < count; k++) {
    below += weights[sorted[k].row];
    if (below < total / 2) continue;
    size_t next = k;
    while (below == total / 2 && next + 1 < count && (next == k || weights[sorted[next].row] == 0))
      next++;
    return (sorted[k].value + sorted[next].value) / 2;
  }
  return count == 0 ? 0 : sorted[count - 1].value;
}

/* 1.4826 times the median distance from the median: the standard deviation, where values are
 * normal, and deaf to almost half of them. work: count of them. */
static inline double robust_scale(size_t count, const double *x, const double *weights,
                                  ranked *work) {
  for (size_t i = 0; i < count; i++)
    work[i] = (ranked){x[i], i};
  ranked_sort(work, count);
  const double middle = ranked_median(work, count, weights);
  for (size_t i = 0; i < count; i++)
    work[i] = (ranked){fabs(x[i] - middle), i};
  ranked_sort(work, count);
  return 1.4826 * ranked_median(work, count, weights);
}

#endif
