/* Widths that come from the data. */
#ifndef SCULLERY_WIDTHS_H
#define SCULLERY_WIDTHS_H

#include "rows/flow.h"

/* For the staged rows: scale = 1/(d var X), var over all entries; median = 1/(median squared
 * distance of a sample of at most 1000 rows, evenly spaced). */
scl_status scl_flow_widths(const scl_flow *flow, double *scale, double *median, scl_error *error);

#endif
