/* Normal equations that do not depend on the order of their additions, kept apart by group (fold).
 * Of features that are whole numbers or bits they are exact:
 * V'V, V'[Y 1] and the sums of Y and of its squares, for features base + unit v (map/whole.c). They
 * are the same for any order of rows and any division of the work, and rows can be taken out again.
 * Of float features they are sums of the products of blocks (block_sums.h).
 *
 * A row of weight w that is a whole number counts w times. Any other weight, in [4^e, 4^(e+1)),
 * makes the row v' = round(v sqrt(w) / 2^(e+1)) with the factor 2^(e+1), whose constant and targets
 * are multiplied by sqrt(w). Of bits the weight itself is rounded, to a multiple of
 * 2^-SCL_COUNT_SHIFT; weights from 2^-8 on are such multiples. */
#ifndef SCULLERY_WHOLE_SUMS_H
#define SCULLERY_WHOLE_SUMS_H

#include "algebra/exact.h"
#include "algebra/whole_totals.h"
#include "rows/sums.h"

enum { SCL_WEIGHT_SHIFT = 40, SCL_COUNT_SHIFT = 60 };
/* The multiple of 2^-SCL_COUNT_SHIFT that a weight of rows of bits is rounded to. */
double scl_counted_weight(double weight);

typedef struct scl_whole_sums {
  size_t features, targets, groups;
  unsigned shift; /* moments are whole multiples of 2^-shift: of whole numbers SCL_WEIGHT_SHIFT, of
                     bits SCL_COUNT_SHIFT; 0 if all weights are whole numbers */
  scl_whole_totals
      *moment;       /* groups: V'V, of 128 bits where whole numbers have shift > 0, and where
                               sums of float features may need them */
  scl_exact **right; /* groups: (c + 1) x D numbers: V'y_j, then V'1 */
  scl_exact **own;   /* groups: sum y_j (c), sum y_j^2 (c), sum of the weights */
  double
      *weight;   /* groups, for the ranges: an upper bound of the sum of the weights; of the entries
                     of `moment` where features are floats */
  double *unit;  /* of float features: D units, v = phi / unit; else NULL */
  double *pilot; /* and what was subtracted from features and targets: D + c numbers */
} scl_whole_sums;

/* The matrices of the moments that sums are made with: none, their own, or such that processes share
 * the tiles of. */
typedef enum scl_moments { SCL_MOMENTS_NONE = 0, SCL_MOMENTS_OWN, SCL_MOMENTS_SHARED } scl_moments;
/* Zeros. */
scl_status scl_whole_sums_create(size_t features, size_t targets, size_t groups,
                                 scl_moments moments, scl_whole_sums **out, scl_error *error);
/* Zeros that `like` can be added to, of so many groups. */
scl_status scl_whole_sums_like(const scl_whole_sums *like, size_t groups, scl_whole_sums **out,
                               scl_error *error);
void scl_whole_sums_destroy(scl_whole_sums *sums);

/* Rows of one group: whole numbers (rows x D at stride), or bits from row `first` on; with
 * targets (rows x c) and weights (or NULL). */
typedef struct scl_whole_rows {
  scl_whole type;
  const void *v;
  ptrdiff_t stride;
  const scl_bits *bits; /* in place of v; then the weights are whole numbers */
  size_t first, rows, group;
  const double *y, *weights;
} scl_whole_rows;
/* To all sums, or to all but the moments. */
scl_status scl_whole_sums_add(scl_whole_sums *sums, const scl_whole_rows *rows, bool moments,
                              scl_error *error);
/* Where exact sums over rows, times 2^exponent, are added (whole_adjoint.c): sum k x D: V'r; ones
 * k: 1'r, or NULL. *finite = false where a number of r is not finite: the sums are of no use. */
typedef struct scl_whole_adjoint_sums {
  size_t features, columns; /* D, k */
  int exponent;
  scl_exact *sum, *ones;
  bool *finite;
} scl_whole_adjoint_sums;
/* r: rows x k. The targets, weights and group of the rows are not read. */
scl_status scl_whole_rows_adjoint(const scl_whole_rows *rows, const double *r,
                                  const scl_whole_adjoint_sums *to, scl_error *error);
/* Make moments of whole numbers multiples of 2^-shift, unless that or their own shift is 0. */
scl_status scl_whole_sums_widen(scl_whole_sums *sums, unsigned shift, scl_error *error);
/* into += from, or -= from, of the same sizes. */
scl_status scl_whole_sums_merge(scl_whole_sums *into, scl_whole_sums *from, bool subtract,
                                scl_error *error);

/* Sums that were made without the products of the first features among themselves
 * (scl_flow.known) get these from `few`, of the same rows. */
scl_status scl_whole_sums_lead(scl_whole_sums *sums, scl_whole_sums *few, scl_error *error);

/* *out = the sums of the first `few` of `many` parameters, with `outputs` features each.
 * Floating-point features of the few are `ratio` times those of the many. */
scl_status scl_whole_sums_of_first(scl_whole_sums *sums, size_t many, size_t few, size_t outputs,
                                   double ratio, scl_whole_sums **out, scl_error *error);

/* The sum of all weights. */
double scl_whole_sums_weight(const scl_whole_sums *sums);
/* What whole numbers or bits v represent: features base + unit v. */
typedef struct scl_whole_features {
  const double *unit, *base; /* D each; base NULL: zeros */
} scl_whole_features;
/* unit and base of a map's whole numbers or bits. For bits they are in *memory, which the caller
 * releases; else *memory = NULL. */
scl_status scl_whole_features_open(const scl_map *map, scl_whole_features *out, double **memory,
                                   scl_error *error);
/* The totals over all groups but `without` (-1: all), as scl_sums_total, and *moment = their
 * matrix, which the caller destroys. Sums of floating-point features have their own units and
 * ignore `features`. spend: the matrix may be made in the memory of the only group's moments, and
 * the sums cannot be used again. */
scl_status scl_whole_sums_total(scl_whole_sums *sums, const scl_whole_features *features,
                                long without, bool centre, bool spend, scl_totals *out,
                                scl_symmetric **moment, scl_error *error);

#endif
