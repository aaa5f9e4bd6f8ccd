/* Fingerprints of rows: 64 bits of the staged row, its targets and its weight. Kept beside exact
 * sums, as a multiset: equal rows count as often as they came. */
#ifndef SCULLERY_FINGERPRINTS_H
#define SCULLERY_FINGERPRINTS_H

#include "base/memory.h"

typedef struct scl_fingerprints {
  uint64_t *values;
  size_t count, room;
  bool sorted; /* ascending */
} scl_fingerprints;

void scl_fingerprints_release(scl_fingerprints *f);
scl_status scl_fingerprints_add(scl_fingerprints *f, uint64_t value, scl_error *error);
/* The fingerprint of `count` numbers, going on from another; 0 to begin. -0 counts as 0. */
uint64_t scl_fingerprint_of(uint64_t before, scl_dtype dtype, const void *numbers, size_t count);

/* How many of the values of `some` are in `all`, each copy once. Sorts both. */
size_t scl_fingerprints_common(scl_fingerprints *all, scl_fingerprints *some);
/* into += from. */
scl_status scl_fingerprints_join(scl_fingerprints *into, const scl_fingerprints *from,
                                 scl_error *error);
/* Take the values of `from`, all of which `all` has, out of it, each copy once. Sorts both. */
void scl_fingerprints_remove(scl_fingerprints *all, scl_fingerprints *from);
void scl_fingerprints_sort(scl_fingerprints *f);

#endif
