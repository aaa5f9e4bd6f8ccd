/* Sums over the rows of all processes, from those of the part of each (processes.h). The sums are
 * whole numbers, so that they have the bits that one process gets from all rows. */
#ifndef SCULLERY_JOINED_H
#define SCULLERY_JOINED_H

#include "rows/whole_sums.h"

/* Whether the exact sums of a flow are to be divided among processes: there are several, and
 * nothing but the sums is wanted of the walk. */
bool scl_flow_divides(const scl_flow *flow);

/* Each of `count` exact sums becomes the sum over the processes. `mine` is the status of the work
 * that made them, as in scl_processes_meet; `doing` says what they are, with their sizes. */
scl_status scl_exact_join(scl_exact *const *sums, size_t count, scl_status mine, const char *doing,
                          scl_error *error);
/* The same for normal equations; `sums` is not read after a failure of `mine`. */
scl_status scl_whole_sums_join(scl_whole_sums *sums, scl_status mine, const char *doing,
                               scl_error *error);

#endif
