/* A cache of feature blocks, for solvers that pass over the rows many times: the same blocks in the
 * same order as in a walk, from memory instead of from the rows. */
#ifndef SCULLERY_KEEP_H
#define SCULLERY_KEEP_H

#include "rows/flow.h"

typedef struct scl_keep scl_keep;

/* The bytes of the flow's blocks (of the rows begin .. end-1), features and targets; whether they
 * fit into so many. */
double scl_keep_bytes(const scl_flow *flow);
bool scl_keep_fits(const scl_flow *flow, size_t allowance);
/* Walk the flow; store each block, then visit it. If memory runs out, the stored blocks are
 * released, *out becomes NULL, and the walk continues: that is not a failure. */
scl_status scl_keep_create(const scl_flow *flow, scl_flow_visit visit, void *context,
                           scl_keep **out, scl_error *error);
/* The same visits from memory. */
scl_status scl_keep_walk(const scl_keep *keep, scl_flow_visit visit, void *context,
                         scl_error *error);
/* out = features first .. first+count-1 of row `place` of the source, in the flow's dtype; *y = its
 * targets (borrowed), or NULL. Not for sparse features. scl_keep_index must have succeeded. */
void scl_keep_row(const scl_keep *keep, size_t place, size_t first, size_t count, void *out,
                  const double **y);
/* Prepare scl_keep_row. False: not enough memory. */
bool scl_keep_index(scl_keep *keep);
void scl_keep_destroy(scl_keep *keep);

#endif
