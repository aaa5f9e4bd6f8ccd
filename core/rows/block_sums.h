/* Normal equations of float features as sums over blocks (whole_sums.h). The products of a block
 * are made in floating point. Phi'Phi is rounded to a grid and added as whole numbers
 * (algebra/block_totals.h), the other sums are added exactly. So the sums are the same for any
 * order of the blocks, and parts of the rows that are cut at blocks add up to the sums of all rows.
 *
 * The grid is made of units, one for each feature, which are learnt from the first rows of the
 * source (scl_flow.unit): powers of two of about the size of the feature. */
#ifndef SCULLERY_BLOCK_SUMS_H
#define SCULLERY_BLOCK_SUMS_H

#include "rows/whole_sums.h"

/* Make sums (of no rows) those of blocks, of features in these units (D; NULL: 1 each), from which
 * the pilot means of the flow are subtracted. */
scl_status scl_block_sums_open(scl_whole_sums *sums, const double *unit, const scl_flow *flow,
                               scl_error *error);
/* Rows of one group of a block: features (rows x D at stride, in dtype), multiplied by the roots of
 * the rows' weights. */
typedef struct scl_block_rows {
  scl_dtype dtype;
  const void *phi;
  ptrdiff_t stride;
  size_t rows, group;
} scl_block_rows;
scl_status scl_block_sums_add(scl_whole_sums *sums, const scl_block_rows *rows, scl_error *error);
/* The other sums of one group of a block: Phi'W [Y 1] (D x (c + 1)); sums of y, of y^2 and of the
 * weights (2 c + 1). */
scl_status scl_block_sums_add_right(scl_whole_sums *sums, size_t group, const double *right,
                                    const double *own, scl_error *error);

/* For whole_sums.c. SCL_STATUS_BAD_DATA: the sums are not of features in the same units, less the
 * same means. */
scl_status scl_block_sums_alike(const scl_whole_sums *a, const scl_whole_sums *b, scl_error *error);
/* Before from is added to into. */
scl_status scl_block_sums_make_room(scl_whole_sums *into, scl_whole_sums *from, size_t group,
                                    scl_error *error);
/* The units of the first parameters, if `sums` have units; nothing is subtracted from features. */
scl_status scl_block_sums_first_units(const scl_whole_sums *sums, size_t many, size_t few,
                                      double ratio, scl_whole_sums *to, scl_error *error);

/* *out = the units (D) of a flow's features in sums with these row weights (`rows` of them; NULL: 1
 * each): the units of the flow, learnt if it has none, times a power of two near the root of the
 * mean of the first weights. The caller releases them. */
scl_status scl_block_units(const scl_flow *flow, const double *weights, size_t rows, double **out,
                           scl_error *error);

#endif
