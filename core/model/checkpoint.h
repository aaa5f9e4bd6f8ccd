/* Checkpoints in files (rows/checkpoint.h says what they are for). Three files beside each other:
 *
 *   PATH.sums    the sums over the first rows: safetensors, as in saved models
 *   PATH.passes  the results of passes, appended one after the other
 *   PATH.state   the newest state of a solver's own loop
 *
 * PATH.sums and PATH.state are replaced whole or not at all. What a killed process left of a record
 * at the end of PATH.passes is cut off by the next one. */
#ifndef SCULLERY_MODEL_CHECKPOINT_H
#define SCULLERY_MODEL_CHECKPOINT_H

#include "rows/checkpoint.h"

enum { SCL_CHECKPOINT_IDENTITY = 64 };

/* identity: SCL_CHECKPOINT_IDENTITY characters, a digest of all that determines the fit; files of
 * another one are refused (SCL_STATUS_BAD_DATA). every: seconds between two writes of sums or
 * states, at least; a write that takes long is made less often, so that writing takes at most 2 % of
 * the time. */
scl_status scl_checkpoint_open(const char *path, const char *identity, double every,
                               scl_checkpoint **out, scl_error *error);
void scl_checkpoint_close(scl_checkpoint *checkpoint);
/* What follows is the part `part` of the work, and sums over rows are those number `sums`. Stored
 * passes, states and sums of other numbers are not used, and are replaced by the first of this one.
 * A new checkpoint is at part 0 and sums 0. */
void scl_checkpoint_begin(scl_checkpoint *checkpoint, uint64_t part, uint64_t sums);

#endif
