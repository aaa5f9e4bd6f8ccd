/* Widths that come from the data. */
#ifndef SCULLERY_WIDTHS_H
#define SCULLERY_WIDTHS_H

#include "rows/flow.h"

/* For the staged rows: *scale = 1/(d var X), var over all entries, and *median = 1/(the median
 * squared distance of all pairs of at most 1,000 evenly spaced rows), or *scale if that median is
 * 0. SCL_STATUS_BAD_DATA: fewer than two rows, no columns, or all numbers equal. */
scl_status scl_flow_widths(const scl_flow *flow, double *scale, double *median, scl_error *error);

#endif
