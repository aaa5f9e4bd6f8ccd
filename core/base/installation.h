/* What lies around this library, in a build tree or in an installation. */
#ifndef SCULLERY_INSTALLATION_H
#define SCULLERY_INSTALLATION_H

#include "base/error.h"
#include <limits.h>
#include <stdbool.h>

/* The folder that libscullery itself lies in, without links. */
bool scl_own_folder(char folder[PATH_MAX]);

/* The folder of the headers, without links: <scullery/plugin.h> lies in it. SCL_STATUS_IO: they are
 * not there. */
scl_status scl_include_folder(char folder[PATH_MAX], scl_error *error);

#endif
