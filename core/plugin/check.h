/* What a descriptor must satisfy before anything of a plugin is called. */
#ifndef SCULLERY_CHECK_H
#define SCULLERY_CHECK_H

#include "plugin/registry.h"

/* Whether the plugin's own descriptor keeps interface 1; the sentence names the slot, option or row
 * that does not. */
scl_status scl_check_plugin(const scl_plugin *plugin, scl_error *error);

#endif
