#include "base/progress.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(scl_progress_hook) current;
static _Thread_local bool muted;

void scl_progress_mute(bool mute) { muted = mute; }

void scl_progress_set_hook(scl_progress_hook hook) { atomic_store(&current, hook); }

void scl_progress_report(const char *doing, double done, double total) {
  const scl_progress_hook hook = atomic_load(&current);
  if (hook != NULL && !muted) hook(doing, done, total);
}
