/* What the host offers to plugins. */
#ifndef SCULLERY_HOST_H
#define SCULLERY_HOST_H

#include <scullery/plugin.h>

extern const scl_host scl_host_table;
/* Where scl_host.log goes; NULL drops it. */
void scl_host_set_log(void (*log)(const char *message));

#endif
