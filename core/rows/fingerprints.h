/* Fingerprints of rows: a hash of 64 bits of the staged row, its targets and its weight. They are
 * stored with exact sums as a multiset, in which equal rows occur as often as in the data, so that
 * rows are not added twice, and only rows that were added are removed. */
#ifndef SCULLERY_FINGERPRINTS_H
#define SCULLERY_FINGERPRINTS_H

#include "algebra/csr.h"

typedef struct scl_fingerprints {
  uint64_t *values;
  size_t count, room;
  bool sorted; /* ascending */
} scl_fingerprints;

void scl_fingerprints_release(scl_fingerprints *f);
scl_status scl_fingerprints_add(scl_fingerprints *f, uint64_t value, scl_error *error);
/* The fingerprint of `count` numbers after those of the fingerprint `before` (0: none). -0 counts
 * as 0. */
uint64_t scl_fingerprint_of(uint64_t before, scl_dtype dtype, const void *numbers, size_t count);
/* The same of a sparse row, as of its numbers with the zeros. */
uint64_t scl_fingerprint_of_csr(uint64_t before, const scl_csr *rows, size_t row);

/* The size of the intersection of two multisets. Sorts both. */
size_t scl_fingerprints_common(scl_fingerprints *all, scl_fingerprints *some);
/* into += from. */
scl_status scl_fingerprints_join(scl_fingerprints *into, const scl_fingerprints *from,
                                 scl_error *error);
/* Remove the values of `from`, a part of `all`, from `all`: one copy for each copy. Sorts both. */
void scl_fingerprints_remove(scl_fingerprints *all, scl_fingerprints *from);
void scl_fingerprints_sort(scl_fingerprints *f);

#endif
