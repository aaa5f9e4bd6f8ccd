/* Components by kind and name: found on the search path when they are first asked for, and checked
 * before any of their functions is called (check.h, object.h). Functions may be called on any
 * thread. */
#ifndef SCULLERY_REGISTRY_H
#define SCULLERY_REGISTRY_H

#include "base/memory.h"

/* Kinds that this host knows. */
enum { SCL_KINDS = 9 };

/* Where a component comes from: the folders of the search (folders.h), a path that was given, the
 * cache of compiled sources, or a script that defined it. */
typedef enum scl_plugin_origin {
  SCL_ORIGIN_BUILTIN,
  SCL_ORIGIN_USER,
  SCL_ORIGIN_VARIABLE,
  SCL_ORIGIN_FILE,
  SCL_ORIGIN_COMPILED,
  SCL_ORIGIN_SCRIPT
} scl_plugin_origin;

/* A loaded component, as this host knows it: tables that are shorter than the host's are copies
 * with zeros for what they do not have. Texts are the plugin's own. It stays until the process
 * ends. */
typedef struct scl_component {
  scl_plugin plugin;
  const scl_plugin *source;  /* the plugin's own descriptor */
  const scl_option *options; /* plugin.n_options of them */
  const void *vtable;        /* the table of its kind: scl_sampler, ... */
  const char *path;          /* of a component that a script defined: its place, "script.lua:12" */
  scl_plugin_origin origin;
  /* NULL: from a file. Otherwise a script defined it, its slots run only in the thread that runs
   * the script, and this identifies the definition among others of the same name. */
  const char *digest;
  char own_id[56]; /* plugin.id of a built-in plugin, "org.scullery.NAME"; else empty */
} scl_component;

/* "built in", "user's folder", "SCULLERY_PLUGIN_PATH", "loaded by path", "compiled",
 * "defined in Lua". */
const char *scl_plugin_origin_name(scl_plugin_origin origin);
/* "sampler", "nonlinearity", "kernel", "solver", "transport", "stage", "metric", "loss",
 * "reader". */
const char *scl_kind_name(scl_kind kind);
/* The kind by its name; false when there is none. */
bool scl_kind_find(const char *name, scl_kind *out);
/* Whether a text may name a component (a-z, 0-9, _) or an option (capitals too): 1 to 40
 * characters, a letter first, no keyword of Lua. */
bool scl_is_name(const char *text, bool capitals);

/* Whether a text may be a plugin's id: "org.example.softplus" (plugin/descriptor.h). */
bool scl_is_plugin_id(const char *text);
/* A plugin's id as a text; "no id" for NULL. */
static inline const char *scl_plugin_id_shown(const char *id) { return id == NULL ? "no id" : id; }

/* The component of this kind and name, which is loaded at first use. SCL_STATUS_BAD_OPTION, with
 * the nearest name, if there is none; otherwise it fails as scl_registry_load does. */
scl_status scl_registry_find(scl_kind kind, const char *name, const scl_component **out,
                             scl_error *error);

/* Load one file, and call `visit` for each component that it holds. A file that was loaded before
 * and has not changed gives the same components; another file in its place gives new ones, for new
 * instances. It fails for what check.h and object.h refuse, for a kind and name that another file
 * has, and for a file that was overwritten while its code is in use. */
typedef void (*scl_component_visit)(void *context, const scl_component *component);
scl_status scl_registry_load(const char *path, scl_component_visit visit, void *context,
                             scl_error *error);
/* The same for an object that the compiler made of a source: its components replace compiled ones
 * of the same names, for new instances. It fails if the object that it replaces has a component
 * that it does not have. */
scl_status scl_registry_load_compiled(const char *path, scl_component_visit visit, void *context,
                                      scl_error *error);
/* Load the file of a component again, in the way in which it was loaded; one that is not loaded yet
 * is loaded. *changed: whether the file was replaced since. SCL_STATUS_UNSUPPORTED for a component
 * that is built in, compiled, or defined by a script. */
scl_status scl_registry_reload(scl_kind kind, const char *name, bool *changed,
                               scl_component_visit visit, void *context, scl_error *error);

/* Enter a component that a script defines at `place`. It is used until one of the same kind and
 * name is defined or loaded from a file: new instances are then of that one. The descriptor and all
 * that it points to must stay until the process ends; `place` and `digest` are copied. It fails for
 * what check.h refuses, and for a kind and name that a file has. */
scl_status scl_registry_define(const scl_plugin *plugin, const char *place, const char *digest,
                               scl_error *error);

/* Visit kind, name, path and origin of all components that could be asked for, loaded or not,
 * sorted by kind and name; of several with one name, the first found. */
typedef void (*scl_registry_visit)(void *context, scl_kind kind, const char *name, const char *path,
                                   scl_plugin_origin origin);
scl_status scl_registry_each(scl_registry_visit visit, void *context, scl_error *error);
/* Call visit(context, SCL_KINDS, name, path, origin) for each file NAME.so that is directly in a
 * folder of the search path: its kind is not known before it is opened. */
scl_status scl_registry_each_file(scl_registry_visit visit, void *context, scl_error *error);

/* Visit the components that have been loaded so far. */
void scl_registry_each_loaded(scl_component_visit visit, void *context);

#endif
