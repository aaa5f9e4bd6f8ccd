/* Plugins by kind and name: found on the search path when first asked for, checked before anything
 * of theirs runs. */
#ifndef SCULLERY_REGISTRY_H
#define SCULLERY_REGISTRY_H

#include "base/base.h"

typedef struct scl_component {
  const scl_plugin *plugin;
  char *path;
} scl_component;

/* "sampler", "nonlinearity", "kernel", "solver". */
const char *scl_kind_name(scl_kind kind);
/* The kind by its name; false when there is none. */
bool scl_kind_find(const char *name, scl_kind *out);

/* The component of that kind and name, loading it at first use. Unknown: a sentence with the
 * nearest name. */
scl_status scl_registry_find(scl_kind kind, const char *name, const scl_component **out,
                             scl_error *error);
/* Load one file. Refused: what is no plugin, a wrong ABI, a missing symbol, a kind and name that is
 * there already, a file that others may write. */
scl_status scl_registry_load(const char *path, const scl_component **out, scl_error *error);

/* Visit kind, name and path of everything that could be asked for (loaded or not), sorted by kind
 * and name, the first found of each name. */
typedef void (*scl_registry_visit)(void *context, scl_kind kind, const char *name,
                                   const char *path);
scl_status scl_registry_each(scl_registry_visit visit, void *context, scl_error *error);

/* The folders searched, in order, separated by ':' (SCULLERY_PLUGIN_PATH, the installation, the
 * build tree). The caller releases it. */
char *scl_registry_search_path(void);

#endif
