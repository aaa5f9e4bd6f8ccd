/* Checkpoint of a long fit: what it stores while it runs, so that it can go on with the same bits
 * after its process was ended. Two things are stored: the sums over the first rows, and the results
 * of the passes that a solver asked for. rows/ and learn/ call these slots;
 * core/model/checkpoint.c implements them with files.
 *
 * A slot that cannot write says so once, and the fit goes on without. */
#ifndef SCULLERY_CHECKPOINT_H
#define SCULLERY_CHECKPOINT_H

#include "rows/fingerprints.h"

struct scl_whole_sums;
typedef struct scl_checkpoint scl_checkpoint;

/* Memory that is written to a record, or read from it. */
typedef struct scl_span {
  void *data;
  size_t size; /* bytes */
} scl_span;

enum { SCL_CHECKPOINT_SPANS = 32 }; /* the most of a state */

struct scl_checkpoint {
  /* *sums = the exact sums of rows 0 .. *rows-1 that were stored, which the caller destroys; NULL:
   * there are none. prints receives the rows' fingerprints; NULL: they are not wanted. */
  scl_status (*load_sums)(scl_checkpoint *self, size_t features, size_t targets,
                          scl_fingerprints *prints, struct scl_whole_sums **sums, size_t *rows,
                          scl_error *error);
  /* Whether it is time to store something. finished: the pass has ended, and what is not stored now
   * has to be made again from its start. */
  bool (*due)(const scl_checkpoint *self, bool finished);
  /* Store the sums of rows 0 .. rows-1, in place of those before. */
  void (*store_sums)(scl_checkpoint *self, struct scl_whole_sums *sums,
                     const scl_fingerprints *prints, size_t rows);
  /* The next stored result of a pass, which must be of the kind `what` and fill the spans: else
   * SCL_STATUS_BAD_DATA. The last span may be filled in part: its size becomes what was read.
   * *found = false: there are no more, and the pass has to be made. */
  scl_status (*replay)(scl_checkpoint *self, uint64_t what, scl_span *spans, size_t count,
                       bool *found, scl_error *error);
  /* Append a result of a pass. */
  void (*record)(scl_checkpoint *self, uint64_t what, const scl_span *spans, size_t count);
  /* The state of a solver's loop (scl_problem.keep). The first call with a stored state of this
   * kind copies it to the spans: *restored = true. Every other call stores them when it is time. */
  scl_status (*keep)(scl_checkpoint *self, const scl_span *spans, size_t count, bool *restored,
                     scl_error *error);
};

#endif
