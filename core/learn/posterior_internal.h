/* Shared by posterior.c and posterior_rows.c. */
#ifndef SCULLERY_POSTERIOR_INTERNAL_H
#define SCULLERY_POSTERIOR_INTERNAL_H

#include "algebra/symmetric.h"
#include "learn/posterior.h"

/* out (rows x D) = the features of all rows of a flow, without its pilot, in their order. */
scl_status scl_posterior_features(const scl_flow *flow, double *out, scl_error *error);

#endif
