/* Pilot means: one row near the means of the features, and one near those of the targets, that a
 * walk subtracts (scl_flow.pilot, scl_flow.target_pilot) so that sums over columns with a large
 * offset (years, serial numbers) lose no digits. Only for problems with a free constant, which
 * takes the difference up again.
 *
 * A column has one where the mean of its first rows is far from 0 (scl_pilot_round); else it is 0
 * and every number stays as it is. */
#ifndef SCULLERY_PILOT_MEANS_H
#define SCULLERY_PILOT_MEANS_H

#include "rows/flow.h"

typedef struct scl_pilot {
  double *features; /* D numbers; NULL: all 0 */
  double *targets;  /* c numbers; NULL: all 0 */
  /* D powers of two near the standard deviations of the features, all alike where that is 0; NULL:
   * those are of one size, within a factor of SCALE_RANGE of 1. */
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
