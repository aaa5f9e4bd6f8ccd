/* Environment variables, checked once: a wrong value is refused, not passed over. */
#ifndef SCULLERY_ENVIRONMENT_H
#define SCULLERY_ENVIRONMENT_H

#include "base/error.h"

/* SCULLERY_THREADS: a whole number from 1 to SCL_POOL_MAX; SCULLERY_ISA: a table of loops that this
 * machine can run; SCULLERY_PLUGIN_PATH: folders, separated by ':'; SCULLERY_DATA: a folder. Unset
 * and empty ones are fine. SCL_STATUS_BAD_OPTION otherwise. */
scl_status scl_environment_check(scl_error *error);

#endif
