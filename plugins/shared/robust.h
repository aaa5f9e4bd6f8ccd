/* Orders of residuals for robust fits. */
#ifndef SCULLERY_SHARED_ROBUST_H
#define SCULLERY_SHARED_ROBUST_H

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

#endif
