/* The functions that the host offers to plugins (scl_host), and their log. */
#ifndef SCULLERY_HOST_H
#define SCULLERY_HOST_H

#include "plugin/registry.h"

/* The table, with the vector functions of this machine. */
const scl_host *scl_host_get(void);
/* scl_host.divide_rows (divide.c). */
scl_status scl_host_divide_rows(const scl_rows *rows, const scl_division *division, void *context,
                                scl_error *error);
extern const scl_parts scl_service_parts;
extern const scl_pilot_service scl_service_pilot;
/* Set the function that receives the lines of scl_host.log, as "sampler.gaussian: ..."; NULL: they
 * go to standard error. It may be called on any thread. */
void scl_host_set_log(void (*log)(const char *line));
/* The same, but only if no function is set. */
void scl_host_set_first_log(void (*log)(const char *line));
/* Log a line of the host itself: to the function that was set, or to standard error with control
 * characters made visible. */
void scl_host_write(const char *line);
/* Log a line of the plugin `from`; NULL: as "a plugin: ...". */
SCL_PRINTF(2, 3) void scl_host_say(const scl_plugin *from, const char *format, ...);

/* For checks: count the calls that a component makes of the host from now on. At call number `at`
 * (from 0; at < 0: at none) an allocation is refused, or an interrupt is raised as by Ctrl-C.
 * component NULL ends the watch. */
enum {
  SCL_HOST_REFUSE = 1, /* counts calls of `allocate` and `scratch` */
  SCL_HOST_INTERRUPT   /* those of `allocate`, `scratch` and `parallel` */
};
void scl_host_watch(const scl_component *component, int what, long at);
/* The number of calls counted since scl_host_watch. */
size_t scl_host_watched(void);

#endif
