#include "progress.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(scl_progress_hook) current;

void scl_progress_set_hook(scl_progress_hook hook) {
  atomic_store(&current, hook);
}

void scl_progress_report(const char *doing, double done, double total) {
  const scl_progress_hook hook = atomic_load(&current);
  if (hook != NULL) hook(doing, done, total);
}
