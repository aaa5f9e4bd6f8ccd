/* Progress of long work, as a stack of nested levels: loops that Lua code reports (a search,
 * folds), and inside them pieces of the engine's work (a solver's iterations, a pass over rows).
 * Each thread has its own stack. */
#ifndef SCULLERY_PROGRESS_H
#define SCULLERY_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

enum { SCL_LEVELS = 32, SCL_LEVEL_NAME = 64 };

typedef struct scl_level {
  char name[SCL_LEVEL_NAME]; /* "search", "learning": printable UTF-8 */
  const char *unit;          /* of `done` and `total`: "rows", "bytes"; NULL: none */
  bool counted;              /* `done` counts finished items; otherwise it is a share of `total` */
  double done, total;        /* total NaN: not known */
  double loss;               /* NaN: not known */
  double iteration;          /* number of reports of a solver; 0: not a solver */
  double rows;               /* processed so far, with those of inner passes */
  double began, changed;     /* times of scl_progress_clock; changed: of the last report */
  size_t number;             /* unique, not 0 */
} scl_level;

/* The open levels of this thread, outermost first. */
const scl_level *scl_levels(size_t *count);

/* Open a level of counted items inside the open ones. Returns its number; 0: SCL_LEVELS are open
 * already, and the level is not reported. */
size_t scl_level_open(const char *name, const char *unit, double total);
/* Report the number of finished items. False: the level is closed. */
bool scl_level_step(size_t number, double done, double loss);
/* Close the level and, unless `only`, all levels inside it. Does nothing where it is closed. */
void scl_level_close(size_t number, bool only);

/* A piece of the engine's work, which is a level from its first report to its end. */
typedef struct scl_progress {
  const char *stage; /* "learning", "solving" ... */
  const char *unit;
  double total, loss, iteration, rows, began;
  size_t number; /* of its level; 0: not open yet */
} scl_progress;

/* stage NULL: the level opens at the first report that has a stage. */
scl_progress scl_progress_begin(const char *stage, const char *unit, double total);
void scl_progress_report(scl_progress *progress, double done);
/* Has to be called on every path. */
void scl_progress_end(scl_progress *progress);
/* Seconds of the monotonic clock. */
double scl_progress_clock(void);

typedef enum scl_progress_event {
  SCL_PROGRESS_BEGIN,
  SCL_PROGRESS_REPORT,
  SCL_PROGRESS_END /* the level is still open */
} scl_progress_event;

/* Called for each event, on the working thread. */
typedef void (*scl_progress_hook)(scl_progress_event event, const scl_level *level);
void scl_progress_set_hook(scl_progress_hook hook);

/* A thread that works for another one follows it: its levels are nested in the levels that were
 * open there, and it reports progress, since the other thread only waits. */
typedef struct scl_lead {
  scl_level levels[SCL_LEVELS];
  size_t count;
} scl_lead;
scl_lead scl_progress_lead(void);
void scl_progress_follow(const scl_lead *lead);
bool scl_progress_follows(void);

/* Estimated seconds to the end of a level, from its average rate; NaN: not known yet. */
double scl_level_left(const scl_level *level, double now);
/* The outermost level whose time left is known. NULL: there is none, or a loop outside of it has
 * not finished its first step, so that the time would be mistaken for that of the loop. */
const scl_level *scl_level_known(const scl_level *levels, size_t count, double now);

#endif
