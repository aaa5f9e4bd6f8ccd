/* Profiles of one thread: a stack of open stages, of which the innermost is charged. */
#include "base/profile.h"
#include "base/progress.h"

#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 64 };

static _Thread_local struct {
  size_t running; /* profiles that were started and not stopped */
  scl_profile_stage stages[SCL_PROFILE_STAGES];
  size_t count;
  size_t open[MOST_DEPTH]; /* entered stages, innermost last */
  size_t depth;
  double since; /* the time up to which the innermost was charged */
} own;

bool scl_profile_runs(void) { return own.running > 0; }

void scl_profile_start(void) {
  if (own.running++ > 0) return;
  own.count = own.depth = 0;
}

void scl_profile_stop(void) {
  if (own.running > 0) own.running--;
}

const scl_profile_stage *scl_profile_stages(size_t *count) {
  *count = own.count;
  return own.stages;
}

/* The index of a stage, which is added where it is new. The last place sums stages beyond the
 * limit. */
static size_t find_stage(const char *name) {
  for (size_t i = 0; i < own.count; i++)
    if (strncmp(own.stages[i].name, name, SCL_PROFILE_NAME - 1) == 0) return i;
  if (own.count == SCL_PROFILE_STAGES) return own.count - 1;
  own.stages[own.count] = (scl_profile_stage){0};
  (void)snprintf(own.stages[own.count].name, SCL_PROFILE_NAME, "%s",
                 own.count + 1 == SCL_PROFILE_STAGES ? "others" : name);
  return own.count++;
}

/* Charge the time since the last call to the innermost stage. */
static void charge_time(void) {
  const double now = scl_progress_clock();
  if (own.depth > 0) own.stages[own.open[own.depth - 1]].seconds += now - own.since;
  own.since = now;
}

size_t scl_profile_enter(const char *stage) {
  if (own.running == 0 || stage == NULL || own.depth == MOST_DEPTH) return 0;
  charge_time();
  own.open[own.depth++] = find_stage(stage);
  return own.depth;
}

size_t scl_profile_within(const char *stage) {
  if (own.running == 0 || own.depth == 0) return scl_profile_enter(stage);
  return scl_profile_enter(own.stages[own.open[own.depth - 1]].name);
}

void scl_profile_leave(size_t mark, double rows, double passes) {
  if (own.running == 0 || mark == 0 || mark > own.depth) return;
  charge_time();
  own.depth = mark - 1;
  scl_profile_stage *stage = &own.stages[own.open[mark - 1]];
  stage->rows += rows;
  stage->passes += passes;
}

void scl_profile_move(const char *from, const char *to, double seconds, double rows,
                      double passes) {
  if (own.running == 0) return;
  own.stages[find_stage(from)].seconds -= seconds;
  scl_profile_stage *stage = &own.stages[find_stage(to)];
  stage->seconds += seconds;
  stage->rows += rows;
  stage->passes += passes;
}
