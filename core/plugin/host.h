/* What the host offers to plugins. */
#ifndef SCULLERY_HOST_H
#define SCULLERY_HOST_H

#include "plugin/registry.h"

/* The table, with the vector functions of this machine. */
const scl_host *scl_host_get(void);
extern const scl_parts scl_service_parts;
extern const scl_pilot_service scl_service_pilot;
/* Where scl_host.log goes, as "sampler.gaussian: ..."; NULL: to standard error. Called on any
 * thread. */
void scl_host_set_log(void (*log)(const char *line));
/* The same where nobody has said so far. */
void scl_host_set_first_log(void (*log)(const char *line));
/* A line of a plugin's there; NULL: "a plugin: ...". */
SCL_PRINTF(2, 3) void scl_host_say(const scl_plugin *from, const char *format, ...);

/* For checks: what a component asks the host for is counted from now on, and at call number `at`
 * (from 0) memory is refused, or Ctrl-C pressed; at < 0: never. NULL: no longer. */
enum {
  SCL_HOST_REFUSE = 1, /* counts calls of `allocate` and `scratch` */
  SCL_HOST_INTERRUPT   /* those of `allocate`, `scratch` and `parallel` */
};
void scl_host_watch(const scl_component *component, int what, long at);
/* The calls counted since then. */
size_t scl_host_watched(void);

#endif
