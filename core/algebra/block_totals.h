/* Sums of Phi'Phi over blocks of rows of float features, which do not depend on the order in which
 * blocks are added: the product of each block is made in floating point, and its entries are
 * rounded to whole multiples of a quantum and added as whole numbers (whole_totals.h). */
#ifndef SCULLERY_BLOCK_TOTALS_H
#define SCULLERY_BLOCK_TOTALS_H

#include "algebra/whole_totals.h"

/* Entry (i, j) is a whole multiple of unit_i unit_j 2^-SCL_BLOCK_SHIFT: for units near the size of
 * the features, about the rounding of the sum of squares of 50 rows in float64. */
enum { SCL_BLOCK_SHIFT = 46 };

/* Totals of 64 bits get 128 before they may overflow: the numbers are the same. */
typedef struct scl_block_totals {
  scl_whole_totals *totals;
  double *bound;         /* no entry is larger in size */
  const double *inverse; /* n powers of two: 2^(SCL_BLOCK_SHIFT / 2) / unit */
} scl_block_totals;

/* Whether totals of so many rows are expected to get 128 bits, for features of the size of their
 * units. */
bool scl_block_totals_widen(size_t rows);

/* totals += Phi'Phi, with Phi count x n at stride. A product that is not finite, or beyond 2^125
 * quanta: SCL_STATUS_NUMERIC, names a feature, and the totals are spoilt. */
scl_status scl_block_totals_add(const scl_block_totals *to, scl_dtype dtype, const void *phi,
                                ptrdiff_t stride, size_t count, scl_error *error);
/* Widen totals with entries up to `bound` if they cannot hold further entries up to `more`.
 * SCL_STATUS_NUMERIC: 128 bits cannot either. */
scl_status scl_block_totals_make_room(scl_whole_totals *totals, double bound, double more,
                                      scl_error *error);

#endif
