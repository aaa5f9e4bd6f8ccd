/* Looking at components whose files nobody has opened yet. */
#ifndef SCULLERY_PROBE_H
#define SCULLERY_PROBE_H

#include "base/memory.h"

/* What a component says of itself; texts that are longer are cut. */
typedef struct scl_probe {
  char version[40], summary[200];
} scl_probe;

/* Find a component, as scl_registry_find does, in a child process: a file that crashes, exits or
 * hangs when it is opened ends the child alone, and is a sentence. */
scl_status scl_probe_component(scl_kind kind, const char *name, scl_probe *out, scl_error *error);

#endif
