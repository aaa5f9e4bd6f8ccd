/* How far long work is. Levels nest: loops that Lua code tells of (a search, a fold), in them
 * pieces of the engine's work (a solver's descent, a walk over rows). Each thread has its own. */
#ifndef SCULLERY_PROGRESS_H
#define SCULLERY_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

enum { SCL_LEVELS = 32, SCL_LEVEL_NAME = 64 };

typedef struct scl_level {
  char name[SCL_LEVEL_NAME]; /* "search", "learning": printable characters of UTF-8 */
  const char *unit;          /* of done and total: "rows", "bytes"; NULL: none */
  bool counted;              /* whole things, one after the other; otherwise a share of total */
  double done, total;        /* total NaN: not known */
  double loss;               /* NaN: not known */
  double iteration;          /* how often a solver has reported, from 1; 0: no solver */
  double rows;               /* gone through so far, those of walks inside included */
  double began, changed;     /* seconds of scl_progress_clock; changed: when done was told last */
  size_t number;             /* its own; never 0, never used again */
} scl_level;

/* The open levels of this thread, the outermost first. */
const scl_level *scl_levels(size_t *count);

/* Open a level of counted things within those that are open. Returns its number, 0 where nothing is
 * told: too many are open. */
size_t scl_level_open(const char *name, const char *unit, double total);
/* Tell how many are done. false: the level is closed already. */
bool scl_level_step(size_t number, double done, double loss);
/* Close it and, unless alone, all within it; closed already: nothing. */
void scl_level_close(size_t number, bool alone);

/* A piece of the engine's work, a level while it lasts. Its clock starts with it. */
typedef struct scl_progress {
  const char *stage; /* "learning", "solving" ... */
  const char *unit;
  double total, loss, iteration, rows, began;
  size_t number; /* of its level, 0 before it is told of */
} scl_progress;

/* stage NULL: nothing is told until a report finds one. */
scl_progress scl_progress_begin(const char *stage, const char *unit, double total);
void scl_progress_report(scl_progress *progress, double done);
/* Always called. */
void scl_progress_end(scl_progress *progress);
/* Seconds of a clock that never goes back. */
double scl_progress_clock(void);

typedef enum scl_progress_event {
  SCL_PROGRESS_BEGIN,
  SCL_PROGRESS_REPORT,
  SCL_PROGRESS_END /* the level is still open */
} scl_progress_event;

/* Called on the thread that works. */
typedef void (*scl_progress_hook)(scl_progress_event event, const scl_level *level);
void scl_progress_set_hook(scl_progress_hook hook);

/* Threads that work for another one are followers: their levels stand within those that it had
 * open, and are told where it tells nothing itself, because it waits for them. */
typedef struct scl_lead {
  scl_level levels[SCL_LEVELS];
  size_t count;
} scl_lead;
scl_lead scl_progress_lead(void);
void scl_progress_follow(const scl_lead *lead);
bool scl_progress_follows(void);

/* Seconds that a level has left, from its own rate; NaN where that is not known yet. */
double scl_level_left(const scl_level *level, double now);
/* The outermost level with a total whose time left is known. NULL where there is none, or a loop
 * around it has no step done yet: its time would read as that of the loop. */
const scl_level *scl_level_known(const scl_level *levels, size_t count, double now);

#endif
