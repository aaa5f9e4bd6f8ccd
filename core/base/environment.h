/* Environment variables, checked once: a wrong value is refused, not passed over. */
#ifndef SCULLERY_ENVIRONMENT_H
#define SCULLERY_ENVIRONMENT_H

#include "base/error.h"
#include <stdbool.h>

enum { SCL_WARNING = 400 };

/* SCULLERY_THREADS: a whole number from 1 to SCL_POOL_MAX; SCULLERY_ISA: a table of loops that this
 * machine can run; SCULLERY_PLUGIN_PATH: folders, separated by ':'; SCULLERY_DATA: a folder;
 * SCULLERY_PROGRESS: seconds. Unset and empty ones are fine. SCL_STATUS_BAD_OPTION otherwise. */
scl_status scl_environment_check(scl_error *error);
/* A line for the user about what is taken but seldom meant: entries of SCULLERY_PLUGIN_PATH that
 * are empty, or that begin at the working folder. False where there is none. */
bool scl_environment_warn(char line[SCL_WARNING]);

#endif
