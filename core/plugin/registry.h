/* Components by kind and name: found on the search path when first asked for, checked before
 * anything of theirs runs (check.h, object.h). */
#ifndef SCULLERY_REGISTRY_H
#define SCULLERY_REGISTRY_H

#include "base/memory.h"

/* Kinds that this host knows. */
enum { SCL_KINDS = 4 };

/* A loaded component, as this host knows it: tables that are shorter than the host's are copies
 * with zeros for what they do not have. Texts are the plugin's own. It stays until the process
 * ends. */
typedef struct scl_component {
  scl_plugin plugin;
  const scl_plugin *source;  /* the plugin's own descriptor */
  const scl_option *options; /* plugin.n_options of them */
  const void *vtable;        /* scl_sampler, scl_nonlinearity, scl_kernel or scl_solver */
  const char *path;
  bool builtin;
} scl_component;

/* "sampler", "nonlinearity", "kernel", "solver". */
const char *scl_kind_name(scl_kind kind);
/* The kind by its name; false when there is none. */
bool scl_kind_find(const char *name, scl_kind *out);
/* Whether a text may name a component (a-z, 0-9, _) or an option (capitals too): 1 to 40
 * characters, a letter first, no keyword of Lua. */
bool scl_is_name(const char *text, bool capitals);

/* The component of that kind and name, loading it at first use. Unknown: a sentence with the
 * nearest name. Found twice, one of them built in: both paths are named. */
scl_status scl_registry_find(scl_kind kind, const char *name, const scl_component **out,
                             scl_error *error);

/* Load one file. `visit` is called for each component that it holds. A file that was loaded before
 * and has not changed gives the same components; another file in its place gives new ones, for new
 * instances. Refused, with a sentence: what check.h and object.h refuse; a kind and name that
 * another file has; a file that was overwritten while its code is in use. */
typedef void (*scl_component_visit)(void *context, const scl_component *component);
scl_status scl_registry_load(const char *path, scl_component_visit visit, void *context,
                             scl_error *error);

/* Visit kind, name and path of everything that could be asked for (loaded or not), sorted by kind
 * and name, the first found of each name. */
typedef void (*scl_registry_visit)(void *context, scl_kind kind, const char *name,
                                   const char *path);
scl_status scl_registry_each(scl_registry_visit visit, void *context, scl_error *error);
/* Call visit(context, SCL_KINDS, name, path) for each file NAME.so that lies straight in a folder
 * of the search path: its kind is not known before it is opened. */
scl_status scl_registry_each_file(scl_registry_visit visit, void *context, scl_error *error);

/* Visit the components that have been loaded so far. */
void scl_registry_each_loaded(scl_component_visit visit, void *context);

/* The folders searched, in order, separated by ':' (SCULLERY_PLUGIN_PATH, the installation, the
 * build tree). The caller releases it. */
char *scl_registry_search_path(void);

#endif
