/* How far long work is: the engine says it, the command shows it. */
#ifndef SCULLERY_PROGRESS_H
#define SCULLERY_PROGRESS_H

#include <stdbool.h>

/* A piece of work: a walk over rows, a solver's descent, a transfer. Its clock starts with it. Pieces
 * nest: a descent walks. */
typedef struct scl_progress {
  const char *stage; /* "learning", "solving" ... */
  const char *unit;  /* of done and total: "rows", "bytes"; NULL: a share of 1 */
  double done, total;
  double loss;      /* NaN: not known */
  double iteration; /* how often a solver has reported, from 1; 0: no solver */
  double rows;      /* gone through so far, those of walks inside included */
  double began;     /* seconds of scl_progress_clock */
  bool ended;
} scl_progress;

/* stage NULL: nothing is reported. */
scl_progress scl_progress_begin(const char *stage, const char *unit, double total);
void scl_progress_report(scl_progress *progress, double done);
/* Always called, so that a line that is shown goes. */
void scl_progress_end(scl_progress *progress);
/* Seconds of a clock that never goes back. */
double scl_progress_clock(void);

/* Called for every report and at the end, on the thread that works. */
typedef void (*scl_progress_hook)(const scl_progress *progress);
void scl_progress_set_hook(scl_progress_hook hook);
/* Whether reports of this thread are left out. */
void scl_progress_mute(bool mute);

#endif
