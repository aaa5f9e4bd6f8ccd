/* Checks of the environment variables. */
#ifndef SCULLERY_ENVIRONMENT_H
#define SCULLERY_ENVIRONMENT_H

#include "base/error.h"
#include <stdbool.h>

enum { SCL_WARNING = 400 };

/* SCL_STATUS_BAD_OPTION where a variable has an invalid value. Valid: SCULLERY_THREADS, a whole
 * number from 1 to SCL_POOL_MAX; SCULLERY_ISA, an instruction set of this machine
 * (scl_loops_all); SCULLERY_PLUGIN_PATH, folders separated by ':'; SCULLERY_DATA, a folder;
 * SCULLERY_PROGRESS, seconds >= 0; and unset or empty for each. */
scl_status scl_environment_check(scl_error *error);
/* Write a warning about a valid value that is rarely intended: an entry of SCULLERY_PLUGIN_PATH
 * that is empty or a relative path. False: there is nothing to warn of. */
bool scl_environment_warn(char line[SCL_WARNING]);

#endif
