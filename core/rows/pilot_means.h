/* Pilot means: estimates of the means of features and targets, which a walk subtracts
 * (scl_flow.pilot, scl_flow.target_pilot) so that sums over columns with a large offset (years,
 * serial numbers) lose no digits. Only for problems with a free constant, which absorbs the
 * difference.
 *
 * A column has a pilot mean if the mean of its first rows is far from 0 (scl_pilot_round);
 * otherwise it is 0, and the column is not changed. */
#ifndef SCULLERY_PILOT_MEANS_H
#define SCULLERY_PILOT_MEANS_H

#include "rows/flow.h"

typedef struct scl_pilot {
  double *features; /* D numbers; NULL: all 0 */
  double *targets;  /* c numbers; NULL: all 0 */
  /* D powers of two near the standard deviations of the features (near the largest one for features
   * that are constant); NULL: all deviations are within a factor of 2^12 of 1. */
  double *scale;
  double *unit; /* as scl_flow.unit, with these means; NULL: of features that are not dense */
} scl_pilot;

/* From the first rows of the source: of the dense features of the flow, unless they are bits, and
 * of its targets where `targets`. The flow's own pilots are ignored. */
scl_status scl_pilot_learn(const scl_flow *flow, bool targets, scl_pilot *out, scl_error *error);
/* As scl_flow.unit, with the flow's own pilot means, from the first rows of the source; NULL where
 * these have numbers that a walk refuses. */
scl_status scl_pilot_units(const scl_flow *flow, double **out, scl_error *error);
void scl_pilot_release(scl_pilot *pilot);

#endif
