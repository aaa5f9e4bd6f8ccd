/* What the host offers to plugins. */
#ifndef SCULLERY_HOST_H
#define SCULLERY_HOST_H

#include <scullery/plugin.h>

/* The table, with the vector functions of this machine. */
const scl_host *scl_host_get(void);
extern const scl_parts scl_service_parts;
/* Where scl_host.log goes, as "sampler.gaussian: ..."; NULL: to standard error. Called on any
 * thread. */
void scl_host_set_log(void (*log)(const char *line));
/* A line of a plugin's there; NULL: "a plugin: ...". */
SCL_PRINTF(2, 3) void scl_host_say(const scl_plugin *from, const char *format, ...);

#endif
