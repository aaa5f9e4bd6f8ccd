/* What is fitted on a walk over rows before anything is learnt from their features: stages, the
 * cells of a map, the state of a sampler. */
#ifndef SCULLERY_FITTING_H
#define SCULLERY_FITTING_H

#include "rows/flow.h"

/* *out = means, deviations and ranges of the features, or, without a map, of the staged columns,
 * with the weights of the flow; the caller destroys them. `also` (or NULL) visits the blocks of the
 * same walk: of several processes, those of its part (scl_flow_part), cut at multiples of
 * scl_flow_moments_unit rows. */
scl_status scl_flow_moments(const scl_flow *flow, scl_flow_visit also, void *context,
                            scl_column_moments *out, scl_error *error);
/* 0: each process walks all rows. */
size_t scl_flow_moments_unit(const scl_flow *flow);
/* Fit one more stage to the staged rows, or to the features if the flow has a map. reports: what it
 * reports of the rows; the caller releases them, also after a failure. */
scl_status scl_flow_fit_stage(const scl_flow *flow, scl_instance *instance, scl_fitted_stage **out,
                              scl_stage_arrays *reports, scl_error *error);

/* Let a map of one-hot features learn which cells are occupied. For other maps there is no walk. */
scl_status scl_flow_learn_cells(const scl_flow *flow, scl_map *map, scl_error *error);

/* Let a map of whole-number features learn their units from the first rows. There is no walk if it
 * has them. */
scl_status scl_flow_learn_grid(const scl_flow *flow, scl_map *map, scl_error *error);

/* Let a sampler with SCL_ABILITY_LEARN see the staged rows. */
typedef struct scl_lesson {
  scl_instance *sampler, *kernel; /* kernel: the phi that is one, else K, else NULL */
  size_t count;                   /* T, or 0 where it was left out */
  uint64_t seed;
} scl_lesson;
/* *state = what it learnt (float64), for scl_map_spec.state; *count = T. */
scl_status scl_flow_learn_state(const scl_flow *flow, const scl_lesson *lesson, scl_matrix *state,
                                size_t *count, scl_error *error);

#endif
