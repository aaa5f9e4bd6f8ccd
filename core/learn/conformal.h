/* Order statistics for conformal intervals. */
#ifndef SCULLERY_CONFORMAL_H
#define SCULLERY_CONFORMAL_H

#include "algebra/matrix.h"

/* For each row i of `centres` (m x n, float64, packed): low[i] = the low_rank-th smallest of
 * centres_ij - sizes[j], high[i] = the high_rank-th smallest of centres_ij + sizes[j]; ranks from 1
 * to n; a low_rank of 0 gives -infinity. On the pool's threads. */
scl_status scl_conformal_bounds(const scl_matrix *centres, const double *sizes, size_t low_rank,
                                size_t high_rank, double *low, double *high, scl_error *error);

#endif
