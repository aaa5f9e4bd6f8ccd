#define _POSIX_C_SOURCE 200809L
#include "base/progress.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static _Atomic(scl_progress_hook) current;
static _Thread_local bool muted;

void scl_progress_mute(bool mute) { muted = mute; }

void scl_progress_set_hook(scl_progress_hook hook) { atomic_store(&current, hook); }

double scl_progress_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

scl_progress scl_progress_begin(const char *stage, const char *unit, double total) {
  return (scl_progress){
      .stage = stage, .unit = unit, .total = total, .loss = NAN, .began = scl_progress_clock()};
}

static void tell(const scl_progress *progress) {
  const scl_progress_hook hook = atomic_load(&current);
  if (hook != NULL && !muted && progress->stage != NULL) hook(progress);
}

void scl_progress_report(scl_progress *progress, double done) {
  progress->done = done;
  tell(progress);
}

void scl_progress_end(scl_progress *progress) {
  progress->ended = true;
  tell(progress);
}
