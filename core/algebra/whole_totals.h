/* Symmetric matrices of whole numbers: Phi'Phi of whole-number features (whole.h), added, taken
 * away and turned into float64. Entries are whole multiples of 2^-shift. */
#ifndef SCULLERY_WHOLE_TOTALS_H
#define SCULLERY_WHOLE_TOTALS_H

#include "algebra/whole.h"

/* Zeros of order n, of 64 bits; shared: processes share their rows of tiles. */
scl_status scl_whole_totals_create(size_t n, bool shared, scl_whole_totals *out, scl_error *error);
/* Zeros that all processes of a machine add to, of 128 bits if `wide` (scl_symmetric_create_common);
 * of this process alone and 64 bits where they cannot. */
scl_status scl_whole_totals_create_common(size_t n, bool wide, scl_whole_totals *out,
                                          scl_error *error);
void scl_whole_totals_destroy(scl_whole_totals *totals);
/* Give the totals 128 bits where they have 64, and multiply them by 2^shift. */
scl_status scl_whole_totals_widen(scl_whole_totals *totals, unsigned shift, scl_error *error);
/* into += from, or -=. Both have 64 bits, or both have 128. */
void scl_whole_totals_add(scl_whole_totals *into, const scl_whole_totals *from, bool subtract);
/* into += number 2^shift counts, for `counts` of whole numbers in float64, which become 0. `into` has
 * 128 bits. */
void scl_whole_totals_add_counts(scl_whole_totals *into, scl_symmetric *counts, int64_t number,
                                 unsigned shift);
/* The entries of `counts`, whole numbers in float64, become 64-bit totals, in place. */
void scl_whole_totals_of_counts(scl_symmetric *counts);
/* Whether all numbers are equal, also if one has 64 and the other 128 bits. */
bool scl_whole_totals_equal(const scl_whole_totals *a, const scl_whole_totals *b);
/* to = the rows and columns of `from` that are among the first `few` of each run of `many`. */
void scl_whole_totals_first(const scl_whole_totals *from, size_t many, size_t few,
                            const scl_whole_totals *to);
/* The first rows and columns of `to` = those of `from`, whose order is at most that of `to`. */
void scl_whole_totals_lead(const scl_whole_totals *from, const scl_whole_totals *to);
/* The lower triangle row by row, n (n + 1) / 2 numbers; high NULL: of 64 bits. */
void scl_whole_totals_export(const scl_whole_totals *totals, int64_t *low, int64_t *high);
void scl_whole_totals_import(const scl_whole_totals *totals, const int64_t *low,
                             const int64_t *high);

/* The numbers in memory, *count of them: halves of `totals`, of which the upper one is NULL where
 * they have 64 bits. Totals of the same order have the same number, in the same order. */
void scl_whole_totals_memory(const scl_whole_totals *totals, int64_t **low, int64_t **high,
                             size_t *count);

/* How to turn the sum S of several totals into moments of the features base + unit v. Entry (i, j)
 * is
 *
 *   centred:  u_i u_j (S_ij - s_i s_j / total)
 *   else:     u_i u_j S_ij + u_i b_j s_i + b_i u_j s_j + b_i b_j total
 *
 * Differences are exact where the totals and the sums are whole numbers, else of about 106 bits, and
 * rounded once. */
typedef struct scl_whole_scaling {
  const scl_whole_totals *parts;
  const size_t *chosen; /* indices of the parts that are summed */
  size_t count;         /* how many */
  unsigned shift;
  bool centred;
  bool exact; /* the sums are not rounded: where they are whole numbers, the shift has no effect */
  const double *unit, *base; /* n each; base NULL: zeros */
  const double *sums;        /* n: s, rounded */
  const double *rests;       /* n: s less `sums`; NULL: zeros */
  double total, total_rest;  /* likewise the total */
} scl_whole_scaling;
/* `out`, of the same order, is filled. It may be the `low` of the only part. */
scl_status scl_whole_totals_scale(const scl_whole_scaling *scaling, scl_symmetric *out,
                                  scl_error *error);

#endif
