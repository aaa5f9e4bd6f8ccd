/* Means and products of centred rows: of staged rows, or of features. */
#ifndef SCULLERY_CENTRED_H
#define SCULLERY_CENTRED_H

#include "algebra/symmetric.h"
#include "rows/flow.h"

/* mean (D) = the means, weighted by the flow's weights; *total = the sum of the weights. */
scl_status scl_flow_mean(const scl_flow *flow, double *mean, double *total, scl_error *error);
/* *out = the sum of w (x - mean)(x - mean)', of order D, which the caller destroys. */
scl_status scl_flow_products(const scl_flow *flow, const double *mean, scl_symmetric **out,
                             scl_error *error);

#endif
