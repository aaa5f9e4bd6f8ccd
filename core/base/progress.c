/* The stack of progress levels of each thread. A hook displays them (core/progress). */
#define _POSIX_C_SOURCE 200809L
#include "base/progress.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static _Atomic(scl_progress_hook) current;
static atomic_size_t numbers; /* of levels so far, in all threads */

static _Thread_local struct {
  scl_level levels[SCL_LEVELS];
  size_t count;
  bool follows;
} own;

scl_lead scl_progress_lead(void) {
  scl_lead lead = {.count = own.count};
  memcpy(lead.levels, own.levels, own.count * sizeof *own.levels);
  return lead;
}

/* Number 0: this thread cannot step or close the levels of the lead. */
void scl_progress_follow(const scl_lead *lead) {
  memcpy(own.levels, lead->levels, lead->count * sizeof *own.levels);
  own.count = lead->count;
  for (size_t i = 0; i < own.count; i++)
    own.levels[i].number = 0;
  own.follows = true;
}

bool scl_progress_follows(void) { return own.follows; }

void scl_progress_set_hook(scl_progress_hook hook) { atomic_store(&current, hook); }

double scl_progress_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ------------ levels */

const scl_level *scl_levels(size_t *count) {
  *count = own.count;
  return own.levels;
}

/* The open level with a number, searched from the innermost; NULL: it is closed, or number is 0. */
static scl_level *find_level(size_t number) {
  for (size_t i = own.count; number > 0 && i > 0; i--)
    if (own.levels[i - 1].number == number) return &own.levels[i - 1];
  return NULL;
}

static void notify(scl_progress_event event, const scl_level *level) {
  const scl_progress_hook hook = atomic_load(&current);
  if (hook != NULL) hook(event, level);
}

/* Copy a name for display on one line: control characters become blanks, and a long name is cut
 * between characters of UTF-8. */
static void copy_name(char to[SCL_LEVEL_NAME], const char *from) {
  size_t length = strnlen(from, SCL_LEVEL_NAME);
  if (length == SCL_LEVEL_NAME)
    for (length--; length > 0 && ((unsigned char)from[length] & 0xC0) == 0x80;)
      length--;
  for (size_t i = 0; i < length; i++)
    to[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7F ? ' ' : from[i];
  to[length] = 0;
}

/* Open a level inside the others. NULL: there are SCL_LEVELS already. */
static scl_level *push_level(const char *name, const char *unit, double total, double began) {
  if (own.count == SCL_LEVELS) return NULL;
  scl_level *level = &own.levels[own.count++];
  *level = (scl_level){.unit = unit,
                       .total = total,
                       .loss = NAN,
                       .began = began,
                       .changed = began,
                       .number = atomic_fetch_add(&numbers, 1) + 1};
  copy_name(level->name, name);
  return level;
}

size_t scl_level_open(const char *name, const char *unit, double total) {
  scl_level *level = push_level(name, unit, total, scl_progress_clock());
  if (level == NULL) return 0;
  const size_t number = level->number; /* the hook may open and close levels */
  level->counted = true;
  notify(SCL_PROGRESS_BEGIN, level);
  return number;
}

bool scl_level_step(size_t number, double done, double loss) {
  scl_level *level = find_level(number);
  if (level == NULL) return false;
  level->done = done;
  level->loss = loss;
  level->changed = scl_progress_clock();
  notify(SCL_PROGRESS_REPORT, level);
  return true;
}

/* Without `only`, levels are closed from the innermost to this one. The hook may change the stack,
 * so that levels are searched again after each call. */
void scl_level_close(size_t number, bool only) {
  for (scl_level *level; (level = find_level(number)) != NULL;) {
    const size_t last = only ? number : own.levels[own.count - 1].number;
    level = find_level(last);
    notify(SCL_PROGRESS_END, level);
    level = find_level(last);
    if (level == NULL) continue;
    const size_t behind = own.count - (size_t)(level - own.levels) - 1;
    memmove(level, level + 1, behind * sizeof *level);
    own.count--;
  }
}

/* ------------ pieces of work */

/* Open the level of a piece of work, once its stage is known. */
static void open_piece(scl_progress *progress) {
  if (progress->stage == NULL) return;
  scl_level *level = push_level(progress->stage, progress->unit, progress->total, progress->began);
  if (level == NULL) return;
  progress->number = level->number;
  notify(SCL_PROGRESS_BEGIN, level);
}

scl_progress scl_progress_begin(const char *stage, const char *unit, double total) {
  scl_progress progress = {
      .stage = stage, .unit = unit, .total = total, .loss = NAN, .began = scl_progress_clock()};
  open_piece(&progress);
  return progress;
}

void scl_progress_report(scl_progress *progress, double done) {
  if (progress->number == 0) open_piece(progress);
  scl_level *level = find_level(progress->number);
  if (level == NULL) return;
  copy_name(level->name, progress->stage);
  level->done = done;
  level->total = progress->total;
  level->loss = progress->loss;
  level->iteration = progress->iteration;
  level->rows = progress->rows;
  level->changed = scl_progress_clock();
  notify(SCL_PROGRESS_REPORT, level);
}

void scl_progress_end(scl_progress *progress) { scl_level_close(progress->number, false); }

/* ------------ time left */

/* took / done for each unit, times what remains at the last report, less the time since. */
double scl_level_left(const scl_level *level, double now) {
  const double took = level->changed - level->began;
  if (!(level->done > 0 && level->total >= level->done && took > 0)) return NAN;
  return fmax(took / level->done * (level->total - level->done) - (now - level->changed), 0);
}

const scl_level *scl_level_known(const scl_level *levels, size_t count, double now) {
  for (size_t i = 0; i < count; i++) {
    if (!isnan(scl_level_left(&levels[i], now))) return &levels[i];
    if (levels[i].counted && levels[i].total > 0) return NULL;
  }
  return NULL;
}
