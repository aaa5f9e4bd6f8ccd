/* Where plugins lie: the folders of SCULLERY_PLUGIN_PATH, the user's own, and those of the built-in
 * plugins, in that order. A component is looked for as FOLDER/KIND/NAME.so, then FOLDER/NAME.so. */
#ifndef SCULLERY_FOLDERS_H
#define SCULLERY_FOLDERS_H

#include "plugin/registry.h"
#include <limits.h>

/* The folders, in order, separated by ':'. The caller releases it. */
char *scl_folders_path(void);
/* The user's own folder, there or not: $XDG_DATA_HOME/scullery/plugins, by default
 * ~/.local/share/scullery/plugins. False where neither variable has a full path. */
bool scl_folders_user(char folder[PATH_MAX]);
/* Where a real path lies; SCL_ORIGIN_FILE for every place that is none of the search. */
scl_plugin_origin scl_folders_origin(const char *real);

/* The first file of that kind and name, in any folder or among the built-in plugins. */
bool scl_folders_find(scl_kind kind, const char *name, char path[PATH_MAX],
                      scl_plugin_origin *origin);
bool scl_folders_find_builtin(scl_kind kind, const char *name, char real[PATH_MAX]);

/* Each file of a name that a component may have, in the order of the search: of every kind, or
 * (kind SCL_KINDS) those straight in a folder, whose kind is not known before they are opened. */
typedef void (*scl_folders_visit)(void *context, scl_kind kind, const char *name, const char *path,
                                  scl_plugin_origin origin);
void scl_folders_each(scl_folders_visit visit, void *context);
void scl_folders_each_loose(scl_folders_visit visit, void *context);

#endif
