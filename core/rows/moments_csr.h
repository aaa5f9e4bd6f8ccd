/* Moments of the columns of sparse rows, for scl_flow_moments (fitting.h). */
#ifndef SCULLERY_MOMENTS_CSR_H
#define SCULLERY_MOMENTS_CSR_H

#include "rows/flow.h"

/* The same as scl_flow_moments and scl_flow_moments_unit of a flow with scl_flow_has_csr. `also`
 * visits sparse blocks. Numbers agree to rounding. */
scl_status scl_csr_moments(const scl_flow *flow, scl_flow_visit also, void *context,
                           scl_column_moments *out, scl_error *error);
size_t scl_csr_moments_unit(const scl_flow *flow);

#endif
