/* Normal equations, accumulated block by block and kept apart by group (fold): Phi'Phi, Phi'[Y 1],
 * and the sums of Y. How rows are summed: ways.h. */
#ifndef SCULLERY_SUMS_H
#define SCULLERY_SUMS_H

#include "rows/flow.h"
#include "rows/reduce.h"

struct scl_whole_sums; /* whole_sums.h */

typedef struct scl_sums {
  size_t features, targets, groups;
  bool counted; /* parts of sums of bits: without moments (sums_bits.c) */
  size_t known; /* scl_flow.known, of sums that are made */
  bool shared;  /* scl_flow.share_tiles, of sums that are made */
  struct scl_whole_totals
      *common;                  /* groups: moments that all processes add to, which the first sums
                                      that are made take; NULL: none */
  bool exact;                   /* the sums are `whole`, and the arrays below are NULL */
  struct scl_whole_sums *whole; /* exact sums; NULL: float64 */
  const scl_flow *blocks; /* exact sums that are made are sums of its blocks (block_sums.h), */
  const double *unit;     /* of features in these units; both borrowed */
  scl_symmetric **moment; /* groups of D x D: Phi'Phi */
  double *right;          /* groups x D x (c + 1); the last column: sums of the features */
  double *sum, *square;   /* groups x c: sums of y and of y^2 */
  double *count;          /* groups: sums of the weights */
  /* Where all rows were summed by the levels of columns (sums_levels.c): the sums of their codes Z,
   * of C in place of D, and the table (C x D) with Phi = Z table. Codes 1 .. direct are features.
   * Otherwise NULL. */
  struct scl_sums *codes;
  size_t direct;
  double *table;
  struct scl_kept_total *kept; /* exact sums: totals without a group that were made; NULL: none */
} scl_sums;

/* Totals of a problem, kept for the next problem without the same group. */
typedef struct scl_kept_total {
  const scl_symmetric *moment; /* NULL: not made */
  double *numbers; /* right, square, mean_phi and mean_y of scl_totals, one after the other */
  double total;
} scl_kept_total;
/* The place for the totals without that group (-1: all), centred or not. NULL: too large to keep,
 * or no memory. */
scl_kept_total *scl_sums_kept_total(scl_sums *sums, long without, bool centred);

/* Zeros, of the sizes of `like`. */
scl_status scl_sums_create(const scl_sums *like, scl_sums **out, scl_error *error);
/* Sums as parts of a reduction (reduce.h), of the sizes of `like`. */
scl_reduction scl_sums_reduction(scl_sums *like);
/* Add the targets and weights of rows start .. end-1 of a block, which belong to `group`. */
void scl_sums_add_targets(scl_sums *sums, const scl_flow_block *block, size_t group, size_t start,
                          size_t end);
/* Copy the sums of targets, of their squares and of the weights, between sums of as many groups and
 * targets. */
void scl_sums_copy_targets(const scl_sums *from, scl_sums *to);
/* SCL_STATUS_NUMERIC, which names the target (from 0), if its sum of squares is not finite. */
scl_status scl_sums_check_target(size_t target, double square, scl_error *error);
/* The same for the rows of exact sums and, unless NULL, those of others of as many targets. */
scl_status scl_sums_check_targets(const struct scl_whole_sums *sums,
                                  const struct scl_whole_sums *more, scl_error *error);
/* SCL_STATUS_NUMERIC if a sum of squares overflowed. */
scl_status scl_sums_check(const scl_sums *sums, scl_dtype dtype, scl_error *error);
void scl_sums_destroy(scl_sums *sums);

/* *out = the sums of features that are `ratio` times those of the first `few` of `many` parameters,
 * with `outputs` features for each parameter. */
scl_status scl_sums_of_first(const scl_sums *sums, size_t many, size_t few, size_t outputs,
                             double ratio, scl_sums **out, scl_error *error);

/* The right-hand sides over several groups. */
typedef struct scl_totals {
  double *right, *square, *mean_phi, *mean_y; /* D x c, c, D, c: the caller's */
  double total;                               /* weight of the rows */
} scl_totals;
/* Over all groups but `without` (-1: all); centred when asked. The matrix is the sum of the groups'
 * moments less total mean_phi mean_phi'. */
void scl_sums_total(const scl_sums *sums, long without, bool centre, scl_totals *out);

#endif
