/* Sums over the rows of all processes, from those of the part of each (processes.h). The sums are
 * whole numbers, so that they have the bits that one process gets from all rows. */
#ifndef SCULLERY_JOINED_H
#define SCULLERY_JOINED_H

#include "rows/whole_sums.h"

/* Whether the exact sums of a flow are to be divided among processes: there are several, and
 * nothing but the sums is wanted of the walk. */
bool scl_flow_divides(const scl_flow *flow);

/* The rows first .. end-1 that are the part of process `rank` of the flow's rows: parts are cut at
 * multiples of `unit` rows of the source (processes.h). first = end: it has none. */
void scl_flow_part_rows(const scl_flow *flow, size_t unit, size_t rank, size_t *first, size_t *end);
/* The same flow over the part of this process. */
scl_flow scl_flow_part(const scl_flow *flow, size_t unit);

/* Each of `count` exact sums becomes the sum over the processes. `mine` is the status of the work
 * that made them, as in scl_processes_meet; `doing` says what they are, with their sizes. */
scl_status scl_exact_join(scl_exact *const *sums, size_t count, scl_status mine, const char *doing,
                          scl_error *error);
/* The same for normal equations; `sums` is not read after a failure of `mine`. */
scl_status scl_whole_sums_join(scl_whole_sums *sums, scl_status mine, const char *doing,
                               scl_error *error);

/* The nodes of a reduction over the rows of all processes, in place of those of this process, whose
 * rows begin at a leaf. Parts have `bytes` of memory. */
scl_status scl_reducer_gather(scl_reducer *r, size_t bytes, scl_status mine, const char *doing,
                              scl_error *error);
/* Whether the processes each walk some of the leaves of a reduction over the flow's rows. */
bool scl_reducer_divides(const scl_reducer *r, const scl_flow *flow);
/* scl_flow_walk for a reduction, and scl_reducer_finish: where it divides, over the leaves of this
 * process, whose nodes are gathered. `doing` says what is summed. */
scl_status scl_reducer_walk(scl_reducer *r, const scl_flow *flow, bool features, size_t bytes,
                            scl_flow_visit visit, void *context, const char *doing, void **part,
                            scl_error *error);
/* Give the rows of a matrix (packed, `size` bytes a row) that each process has made to all: those
 * of its part of the flow, cut at multiples of `unit`. */
scl_status scl_rows_gather(const scl_flow *flow, size_t unit, void *rows, size_t size,
                           scl_status mine, scl_error *error);

#endif
