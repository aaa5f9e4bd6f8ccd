/* Automatic relevance determination: a scale for each column, learnt from rows with targets. */
#ifndef SCULLERY_RELEVANCE_H
#define SCULLERY_RELEVANCE_H

#include "map/stage.h"
#include "rows/flow.h"

/* The most columns that scl_flow_fit_relevance takes. */
enum { SCL_RELEVANCE_COLUMNS = 1000 };

/* A stage without an instance: x to (x - mean) * factor, where the factor is a relevance
 * between 0 and 1, divided by the standard deviation. The largest relevance is 1; a column that the
 * targets do not depend on has 0.
 *
 * Method: ridge regressions on Fourier features, each with the scales that the one before it gives.
 * The scale of a column is the root of the mean square of the fitted function's partial derivative
 * (the diagonal of the average gradient outer product: Radhakrishnan, Beaglehole, Pandit and Belkin
 * 2024, Mechanism for feature learning in neural networks and backpropagation-free machine learning
 * models). It begins twice: from equal scales, and from an additive model, which sees columns that
 * act alone but not linearly. Of all regressions, the scales of the one with the smallest error on
 * a fifth of the rows, which none of them learns from, are taken, if that error is clearly below
 * the one with equal scales; then columns of small scale get 0 as long as this error does not
 * grow.
 *
 * The flow's weights count in all of this, also in means and deviations: a row of weight 2 is two
 * rows, one of weight 0 none. relevance: 1 x cols, made here. */
scl_status scl_flow_fit_relevance(const scl_flow *flow, uint64_t seed, scl_fitted_stage **out,
                                  scl_matrix *relevance, scl_error *error);

#endif
