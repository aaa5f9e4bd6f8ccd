/* Normal equations of features that each read one column, where columns have few distinct values
 * (levels.h): sums over rows of the codes z, C numbers in place of D features, and at the end
 *
 *   Phi'Phi = P'N P,   N = A (Z'Z) A'
 *
 * A z = a number for every level of a column, and the features of the other columns; P = the table
 * of features by levels. n C^2 + D^2 products instead of n D^2: they pay where C is at most D/2. */
#ifndef SCULLERY_SUMS_LEVELS_H
#define SCULLERY_SUMS_LEVELS_H

#include "rows/sums.h"

typedef struct scl_level_sums scl_level_sums;

/* Whether such sums are made: yes, but where a benchmark measures what they save. */
void scl_level_sums_use(bool use);
bool scl_level_sums_used(void);

/* NULL where the features of the flow's map do not each read one column, or the sums are not to be
 * made. */
scl_status scl_level_sums_create(const scl_flow *flow, scl_level_sums **out, scl_error *error);
void scl_level_sums_destroy(scl_level_sums *sums);
/* Take the rows of a block in: they will be in `part`, which has the sums before them, after
 * scl_level_sums_flush. *taken = false: the rows from here on are the caller's to add. The features
 * of the block need not be made. */
scl_status scl_level_sums_add(scl_level_sums *sums, const scl_flow_block *block, scl_sums *part,
                              bool *taken, scl_error *error);
/* After the last rows: add to `part` what was taken in. */
scl_status scl_level_sums_flush(const scl_level_sums *sums, scl_sums *part, scl_error *error);
/* Then, where all rows were taken in: the sums of the codes and the table go to `whole`, the sums
 * over all rows. */
scl_status scl_level_sums_give(scl_level_sums *sums, scl_sums *whole, scl_error *error);

#endif
