/* Folders of this library, in a build tree or an installation. */
#ifndef SCULLERY_INSTALLATION_H
#define SCULLERY_INSTALLATION_H

#include "base/error.h"
#include <limits.h>
#include <stdbool.h>

/* The folder of libscullery itself, with symbolic links resolved. False: unknown. */
bool scl_own_folder(char folder[PATH_MAX]);

/* The folder that contains scullery/plugin.h, with symbolic links resolved. SCL_STATUS_IO where the
 * headers are not installed. */
scl_status scl_include_folder(char folder[PATH_MAX], scl_error *error);

#endif
