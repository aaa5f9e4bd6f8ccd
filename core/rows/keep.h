/* Feature blocks, as numbers or as bits, kept between passes, for solvers that pass over the rows many times: the same
 * blocks in the same order as a walk, from memory instead of from the rows. */
#ifndef SCULLERY_KEEP_H
#define SCULLERY_KEEP_H

#include "rows/flow.h"

typedef struct scl_keep scl_keep;

/* Whether the flow's blocks, features and targets, fit into so many bytes. */
bool scl_keep_fits(const scl_flow *flow, size_t allowance);
/* Walk the flow and keep every block; then the visits. When memory runs out nothing is kept, *out
 * is NULL, and the walk goes on. */
scl_status scl_keep_create(const scl_flow *flow, scl_flow_visit visit, void *context,
                           scl_keep **out, scl_error *error);
/* The same visits from memory. */
scl_status scl_keep_walk(const scl_keep *keep, scl_flow_visit visit, void *context,
                         scl_error *error);
/* Features first .. first+count-1 of row `place` of the source go to `out`, in the flow's dtype, and
 * its targets to *y: no sparse ones. Call scl_keep_index before. */
void scl_keep_row(const scl_keep *keep, size_t place, size_t first, size_t count, void *out,
                  const double **y);
/* Find rows by their place from now on. False: not enough memory. */
bool scl_keep_index(scl_keep *keep);
void scl_keep_destroy(scl_keep *keep);

#endif
