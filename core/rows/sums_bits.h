/* Normal equations of features that take two values, from bits. Of feature t, phi_t = s_t (low + d
 * b_t) with bits b_t and d = high - low, and with the counts of bits.h
 *
 *   sum phi_t phi_u = s_t s_u (n low^2 + low d (c_t + c_u) + d^2 n_tu)
 *   sum phi_t y     = s_t (low sum y + d sum b_t y)
 *   sum phi_t       = s_t (low n + d c_t)
 *
 * Counts are whole numbers in float64, and the affine map is applied once, after the walk: the
 * moments are the same for any blocks, threads and instruction set. Where rows have a few weights,
 * n, c and n_tu are sums over them of the weight times a count: exact where weights are whole
 * numbers. sum b_t y is counted where targets take two values, as classes do; otherwise it is
 * float64, added in the order of the rows in a leaf (reduce.h). */
#ifndef SCULLERY_SUMS_BITS_H
#define SCULLERY_SUMS_BITS_H

#include "rows/sums.h"
#include "rows/weight_values.h"

/* Whether a walk over the flow can count bits: features of two values, and few row weights. */
bool scl_sums_are_bits(const scl_flow *flow);
/* One walk over such a flow. */
scl_status scl_sums_count(const scl_flow *flow, scl_sums **out, scl_error *error);

#endif
