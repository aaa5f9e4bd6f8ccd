/* The folders of plugins: those of SCULLERY_PLUGIN_PATH, the user's own, and those of the built-in
 * plugins, in that order. A component is looked for as FOLDER/KIND/NAME.so, then FOLDER/NAME.so. */
#ifndef SCULLERY_FOLDERS_H
#define SCULLERY_FOLDERS_H

#include "plugin/registry.h"
#include <limits.h>

/* The user's own folder, whether it exists or not: $XDG_DATA_HOME/scullery/plugins, by default
 * ~/.local/share/scullery/plugins. False if neither XDG_DATA_HOME nor HOME has an absolute path. */
bool scl_folders_user(char folder[PATH_MAX]);
/* The origin of a file by its real path; SCL_ORIGIN_FILE if it is in no folder of the search. */
scl_plugin_origin scl_folders_origin(const char *real);

/* The first file of that kind and name, in any folder or among the built-in plugins. */
bool scl_folders_find(scl_kind kind, const char *name, char path[PATH_MAX],
                      scl_plugin_origin *origin);
bool scl_folders_find_builtin(scl_kind kind, const char *name, char real[PATH_MAX]);

/* Visit each file whose name a component may have, in the order of the search: _each those in the
 * folders of the kinds, _each_loose (with kind SCL_KINDS) those directly in a folder of the search,
 * whose kind is not known before they are opened. */
typedef void (*scl_folders_visit)(void *context, scl_kind kind, const char *name, const char *path,
                                  scl_plugin_origin origin);
void scl_folders_each(scl_folders_visit visit, void *context);
void scl_folders_each_loose(scl_folders_visit visit, void *context);

#endif
