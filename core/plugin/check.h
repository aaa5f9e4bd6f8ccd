/* The conditions that a descriptor must satisfy before any function of a plugin is called. */
#ifndef SCULLERY_CHECK_H
#define SCULLERY_CHECK_H

#include "plugin/registry.h"

/* Check the plugin's own descriptor against interface 1. After a failure the sentence names the
 * slot, option or row that is wrong. */
scl_status scl_check_plugin(const scl_plugin *plugin, scl_error *error);

/* Refuse flags of the upper 16 bits (SCL_FLAGS_REQUIRED) that are not among the known ones; `of`
 * names the table. */
scl_status scl_flags_check(uint32_t flags, uint32_t known, const char *of, scl_error *error);

#endif
