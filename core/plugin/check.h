/* The conditions that a descriptor must satisfy before any function of a plugin is called. */
#ifndef SCULLERY_CHECK_H
#define SCULLERY_CHECK_H

#include "plugin/registry.h"

/* Check the plugin's own descriptor against interface 1. After a failure the sentence names the
 * slot, option or row that is wrong. */
scl_status scl_check_plugin(const scl_plugin *plugin, scl_error *error);

#endif
