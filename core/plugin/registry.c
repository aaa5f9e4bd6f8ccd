/* The registry: entries of loaded objects and of components that scripts define, newest first. A
 * component is found by the newest entry that is not replaced; entries are never freed, as
 * instances point to their components. */
#define _GNU_SOURCE
#include "plugin/registry.h"

#include "base/text.h"
#include "plugin/check.h"
#include "plugin/crash.h"
#include "plugin/folders.h"
#include "plugin/object.h"
#include "plugin/tables.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An object that was loaded, or a component that a script defined. */
typedef struct entry {
  char *path;
  char *digest; /* of what a script defined; NULL: from a file */
  scl_identity identity;
  scl_plugin_origin found; /* SCL_ORIGIN_FILE: its path was given; else where it was found */
  bool mapped;             /* its code is mapped from the file itself, not from a copy */
  scl_component *components;
  size_t count;
  const struct entry *replaced; /* by the newest entry of this path; NULL: it is the newest */
  char *kept;                   /* the path that the entry's `init` was given */
  const scl_entry *entry;       /* of its object, to end it when the process ends; NULL: none */
  struct entry *before; /* the newest first, so that a changed file's components come first */
} entry;

static struct {
  pthread_mutex_t lock;
  entry *last;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ------------ what is loaded; the lock is held */

/* The component of that kind and name in one entry, or NULL. */
static const scl_component *component_of(const entry *e, scl_kind kind, const char *name) {
  for (size_t i = 0; i < e->count; i++)
    if (e->components[i].plugin.kind == kind && strcmp(e->components[i].plugin.name, name) == 0)
      return &e->components[i];
  return NULL;
}

/* The newest entry with the component. Replaced entries serve the instances made before. */
static const entry *loaded_entry(scl_kind kind, const char *name) {
  for (const entry *e = registry.last; e != NULL; e = e->before)
    if (e->replaced == NULL && component_of(e, kind, name) != NULL) return e;
  return NULL;
}

/* The component itself, or NULL if none is loaded. */
static const scl_component *loaded_component(scl_kind kind, const char *name) {
  const entry *e = loaded_entry(kind, name);
  return e == NULL ? NULL : component_of(e, kind, name);
}

/* The newest replaced entry that had the component, or NULL. */
static const entry *replaced_entry(scl_kind kind, const char *name) {
  const entry *e = registry.last;
  while (e != NULL && (e->replaced == NULL || component_of(e, kind, name) == NULL))
    e = e->before;
  return e;
}

/* Fill in a component of entry e from the plugin's own descriptor. A table shorter than the host's
 * is copied and filled up with zeros; its option rows are copied to the host's stride. */
static scl_status fill_component(const scl_plugin *own, const entry *e, scl_plugin_origin origin,
                                 scl_component *out, scl_error *error) {
  const scl_table_rule *rule = scl_rule_of_kind(own->kind);
  void *room = scl_allocate_zero(rule->size);
  if (room == NULL) return scl_fail_memory(error, rule->size, "a plugin");
  *out = (scl_component){.source = own, .path = e->path, .origin = origin, .digest = e->digest};
  (void)scl_table_read(own, sizeof out->plugin, &out->plugin);
  if (own->head.size >= sizeof out->plugin) memcpy(&out->plugin, own, sizeof out->plugin);
  if (out->plugin.id == NULL && origin == SCL_ORIGIN_BUILTIN) {
    (void)snprintf(out->own_id, sizeof out->own_id, "org.scullery.%s", out->plugin.name);
    out->plugin.id = out->own_id;
  }
  out->vtable = scl_table_read(own->vtable, rule->size, room);
  if (out->vtable != room) scl_release(room);
  const scl_plugin *plugin = &out->plugin;
  scl_option *rows = scl_allocate_zero((plugin->n_options + 1) * sizeof *rows);
  if (rows == NULL) return scl_fail_memory(error, sizeof *rows, "a plugin");
  for (size_t i = 0; i < plugin->n_options; i++)
    memcpy(&rows[i], (const char *)plugin->options + i * plugin->option_size,
           scl_min(plugin->option_size, sizeof *rows));
  out->options = rows;
  return SCL_STATUS_OK;
}

/* Release an entry that is not in the registry, with as many components as e->count says. */
static void release_entry(entry *e) {
  for (size_t i = 0; e->components != NULL && i < e->count; i++) {
    scl_component *one = &e->components[i];
    if (one->vtable != NULL && one->vtable != one->source->vtable)
      scl_release((void *)(uintptr_t)one->vtable);
    scl_release((void *)(uintptr_t)one->options);
  }
  SCL_RELEASE(e->components, e->path, e->digest, e);
}

/* ------------ loading; the lock is held */

/* Whether the file is in a folder of the built-in plugins. */
static bool is_builtin(const char *real) { return scl_folders_origin(real) == SCL_ORIGIN_BUILTIN; }

/* Whether one of `count` descriptors has this kind and name. */
static bool has_component(const scl_plugin *const *plugins, size_t count, scl_kind kind,
                          const char *name) {
  for (size_t i = 0; i < count; i++)
    if (plugins[i]->kind == kind && strcmp(plugins[i]->name, name) == 0) return true;
  return false;
}

/* A file or a definition that is about to be entered. */
typedef struct arrival {
  const char *real;   /* of a script: the place of the definition */
  const char *digest; /* NULL: of a file */
  scl_identity identity;
  scl_plugin_origin found;
  const scl_plugin *const *plugins;
  size_t count;
} arrival;

/* A compiled object may replace another only if it has all of its components. */
static scl_status check_replaced(const arrival *new, const entry *old, scl_error *error) {
  for (size_t i = 0; i < old->count; i++) {
    const scl_plugin *plugin = &old->components[i].plugin;
    if (!has_component(new->plugins, new->count, plugin->kind, plugin->name))
      return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "the compiled source that it replaces also has the %s '%s', and this one has "
                      "not",
                      scl_kind_name(plugin->kind), plugin->name);
  }
  return SCL_STATUS_OK;
}

static scl_status refuse_name(const scl_plugin *plugin, const char *path, scl_error *error) {
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "there is a %s '%s' already, %sfrom %s: give this one another name",
                  scl_kind_name(plugin->kind), plugin->name, is_builtin(path) ? "built in, " : "",
                  path);
}

/* Refuse a component if another file has one of its kind and name, or if a built-in plugin has,
 * even one that is not loaded yet. A component that a script defined may be replaced. */
static scl_status check_name(const arrival *new, const scl_plugin *plugin, scl_error *error) {
  char builtin[PATH_MAX];
  const entry *other = loaded_entry(plugin->kind, plugin->name);
  const char *path = other == NULL || other->digest != NULL ? NULL : other->path;
  if (path != NULL && other->found == SCL_ORIGIN_COMPILED && new->found == SCL_ORIGIN_COMPILED)
    return check_replaced(new, other, error);
  if (path == NULL && !is_builtin(new->real) &&
      scl_folders_find_builtin(plugin->kind, plugin->name, builtin))
    path = builtin;
  if (path == NULL || strcmp(path, new->real) == 0) return SCL_STATUS_OK;
  return refuse_name(plugin, path, error);
}

/* Check every plugin of an arrival, and that it may be entered under its name. */
static scl_status check_all(const arrival *new, scl_error *error) {
  for (size_t i = 0; i < new->count; i++) {
    const scl_plugin *plugin = new->plugins[i];
    scl_status status = scl_check_plugin(plugin, error);
    if (status == SCL_STATUS_OK && has_component(new->plugins, i, plugin->kind, plugin->name))
      status = scl_fail(error, SCL_STATUS_UNSUPPORTED, "it holds the %s '%s' twice",
                        scl_kind_name(plugin->kind), plugin->name);
    if (status == SCL_STATUS_OK) status = check_name(new, plugin, error);
    if (status != SCL_STATUS_OK) {
      (void)scl_prefix(error, "plugin %s", new->real);
      return status;
    }
  }
  return SCL_STATUS_OK;
}

/* Whether an entry takes the place of another: of the same file, or of a component that a script
 * defined or the compiler made. */
static bool replaces(const entry *e, const entry *old) {
  const bool compiled = e->found == SCL_ORIGIN_COMPILED && old->found == SCL_ORIGIN_COMPILED;
  if (old->digest == NULL && strcmp(old->path, e->path) == 0) return true;
  for (size_t i = 0; (compiled || old->digest != NULL) && i < old->count; i++)
    if (component_of(e, old->components[i].plugin.kind, old->components[i].plugin.name) != NULL)
      return true;
  return false;
}

/* Make e the newest of all that it replaces. */
static void supersede(entry *e) {
  e->replaced = NULL;
  for (entry *old = registry.last; old != NULL; old = old->before)
    if (old != e && replaces(e, old)) old->replaced = e;
}

/* Add an entry for an arrival that was checked. */
static scl_status add_entry(const arrival *new, entry **out, scl_error *error) {
  entry *e = scl_allocate_zero(sizeof *e);
  if (e == NULL) return scl_fail_memory(error, sizeof *e, "a plugin");
  e->identity = new->identity;
  e->found = new->found;
  e->path = scl_copy_text(new->real);
  e->digest = new->digest == NULL ? NULL : scl_copy_text(new->digest);
  e->components = scl_allocate_zero((new->count + 1) * sizeof *e->components);
  const bool lacking =
      e->path == NULL || e->components == NULL || (new->digest != NULL && e->digest == NULL);
  const scl_plugin_origin origin = new->digest != NULL             ? SCL_ORIGIN_SCRIPT
                                   : is_builtin(new->real)         ? SCL_ORIGIN_BUILTIN
                                   : new->found == SCL_ORIGIN_FILE ? scl_folders_origin(new->real)
                                                                   : new->found;
  scl_status status = lacking
                          ? scl_fail_memory(error, new->count * sizeof *e->components, "a plugin")
                          : SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < new->count; i++) {
    e->count = i + 1; /* so that release_entry releases what a failure leaves */
    status = fill_component(new->plugins[i], e, origin, &e->components[i], error);
  }
  if (status != SCL_STATUS_OK) {
    release_entry(e);
    return status;
  }
  supersede(e);
  e->before = registry.last;
  registry.last = *out = e;
  return SCL_STATUS_OK;
}

/* *again: another version of the file was opened from this path before. *out: the entry of this
 * very file, or NULL. Refused: a file whose bytes were replaced while its code is mapped. */
static scl_status find_opened(const arrival *new, bool *again, entry **out, scl_error *error) {
  *again = false;
  *out = NULL;
  for (entry *e = registry.last; e != NULL; e = e->before) {
    if (e->digest != NULL || strcmp(e->path, new->real) != 0) continue;
    if (!*again && scl_identity_same(&e->identity, &new->identity)) {
      *out = e;
      return SCL_STATUS_OK;
    }
    *again = true;
    if (e->mapped && e->identity.device == new->identity.device &&
        e->identity.inode == new->identity.inode)
      return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "plugin %s: it was overwritten while it is loaded, which changes code that "
                      "may be running: start Scullery again (a file that is moved or linked to "
                      "this place, as compilers do, can be loaded at once)",
                      new->real);
  }
  return SCL_STATUS_OK;
}

/* At exit: call `deinit` of all objects, in the reverse order of loading. If the process ends while
 * a file is being loaded, the lock is held (possibly by this thread) and none is called. */
static void deinit_all(void) {
  if (pthread_mutex_trylock(&registry.lock) != 0) return;
  for (entry *e = registry.last; e != NULL; e = e->before) {
    scl_object_deinit(e->entry, e->path);
    e->entry = NULL;
  }
  pthread_mutex_unlock(&registry.lock);
}

/* Check an opened object and enter it. Reading its tables may crash (a pointer may be wrong), so it
 * is done within a call that names the file. */
static scl_status check_and_enter(arrival *new, const scl_object *object, entry **out,
                                  scl_error *error) {
  static bool watched;
  scl_component unnamed;
  scl_call call;
  new->plugins = object->plugins;
  new->count = object->count;
  scl_object_enter(&call, &unnamed, new->real, "the check of its tables");
  scl_status status = check_all(new, error);
  if (status == SCL_STATUS_OK) status = add_entry(new, out, error);
  scl_call_drop(&call);
  if (status != SCL_STATUS_OK) return status;
  (*out)->entry = object->entry;
  if (object->entry != NULL && !watched) watched = atexit(deinit_all) == 0;
  return SCL_STATUS_OK;
}

/* Open, check and enter a file that is not loaded yet. */
static scl_status open_new(arrival *new, bool again, entry **out, scl_error *error) {
  scl_object object;
  char *kept = scl_copy_text(new->real); /* for `init`: it stays where the object does */
  if (kept == NULL) return scl_fail_memory(error, strlen(new->real), "a plugin");
  scl_status status = scl_object_open(new->real, kept, again, &object, error);
  if (status == SCL_STATUS_OK) {
    status = check_and_enter(new, &object, out, error);
    if (status == SCL_STATUS_OK)
      scl_object_keep(&object);
    else
      scl_object_close(&object, new->real);
  }
  if (status != SCL_STATUS_OK || object.entry == NULL) scl_release(kept);
  if (status != SCL_STATUS_OK) return status;
  if (object.entry != NULL) (*out)->kept = kept;
  (*out)->mapped = !again;
  if (!is_builtin(new->real)) scl_crash_suspect((*out)->path);
  return SCL_STATUS_OK;
}

/* Make an entry that was replaced the newest again: a source that was compiled before. */
static scl_status take_again(arrival *new, entry *e, scl_error *error) {
  const scl_plugin *plugins[1000];
  for (size_t i = 0; i < e->count; i++)
    plugins[i] = e->components[i].source;
  new->plugins = plugins;
  new->count = e->count;
  SCL_TRY(check_all(new, error));
  supersede(e);
  return SCL_STATUS_OK;
}

/* Load a file, or find its entry. found: SCL_ORIGIN_FILE if its path was given, otherwise where it
 * was found. The writers of built-in plugins are not checked: these are beside the library, whose
 * code runs already, and are as safe as it is. */
static scl_status load_locked(const char *path, scl_plugin_origin found, entry **out,
                              scl_error *error) {
  char real[PATH_MAX];
  bool again = false;
  arrival new = {.real = real, .found = found};
  SCL_TRY(scl_object_find(path, real, &new.identity, error));
  if (!is_builtin(real)) SCL_TRY(scl_object_check(real, found == SCL_ORIGIN_FILE, error));
  SCL_TRY(find_opened(&new, &again, out, error));
  if (*out == NULL) return open_new(&new, again, out, error);
  return (*out)->replaced == NULL ? SCL_STATUS_OK : take_again(&new, *out, error);
}

/* Load a file and visit its components. Visits run without the lock, as they may use the registry;
 * the entry stays in any case. */
static scl_status load_file(const char *path, scl_plugin_origin found, scl_component_visit visit,
                            void *context, scl_error *error) {
  entry *e = NULL;
  pthread_mutex_lock(&registry.lock);
  const scl_status status = load_locked(path, found, &e, error);
  pthread_mutex_unlock(&registry.lock);
  for (size_t i = 0; status == SCL_STATUS_OK && i < e->count; i++)
    visit(context, &e->components[i]);
  return status;
}

scl_status scl_registry_load(const char *path, scl_component_visit visit, void *context,
                             scl_error *error) {
  return load_file(path, SCL_ORIGIN_FILE, visit, context, error);
}

scl_status scl_registry_load_compiled(const char *path, scl_component_visit visit, void *context,
                                      scl_error *error) {
  return load_file(path, SCL_ORIGIN_COMPILED, visit, context, error);
}

/* ------------ what scripts define */

scl_status scl_registry_define(const scl_plugin *plugin, const char *place, const char *digest,
                               scl_error *error) {
  entry *e;
  const arrival new = {
      .real = place, .digest = digest, .found = SCL_ORIGIN_SCRIPT, .plugins = &plugin, .count = 1};
  char found[PATH_MAX];
  scl_plugin_origin origin;
  SCL_TRY(scl_check_plugin(plugin, error));
  pthread_mutex_lock(&registry.lock);
  /* A definition never replaces a file of its kind and name, loaded or not. */
  const entry *other = loaded_entry(plugin->kind, plugin->name);
  const char *path = other == NULL || other->digest != NULL ? NULL : other->path;
  if (path == NULL && scl_folders_find(plugin->kind, plugin->name, found, &origin)) path = found;
  const scl_status status =
      path != NULL ? refuse_name(plugin, path, error) : add_entry(&new, &e, error);
  pthread_mutex_unlock(&registry.lock);
  return status;
}

/* ------------ what there is */

/* A component that could be asked for, by name and path: it need not be loaded. */
typedef struct known {
  scl_kind kind;
  scl_plugin_origin origin;
  char name[48];
  char path[PATH_MAX];
} known;

typedef struct listing {
  known *entries;
  size_t count, room;
  bool failed;
} listing;

/* Add a component to the listing unless its kind and name are there already: the first found is the
 * one that is loaded. */
static void list_add(void *context, scl_kind kind, const char *name, const char *path,
                     scl_plugin_origin origin) {
  listing *list = context;
  if (strlen(name) >= sizeof list->entries->name || strlen(path) >= PATH_MAX) return;
  for (size_t i = 0; i < list->count; i++)
    if (list->entries[i].kind == kind && strcmp(list->entries[i].name, name) == 0) return;
  known *entries = scl_grow(list->entries, list->count, &list->room, sizeof *entries);
  if (entries == NULL) {
    list->failed = true;
    return;
  }
  list->entries = entries;
  known *last = &list->entries[list->count++];
  last->kind = kind;
  last->origin = origin;
  (void)snprintf(last->name, sizeof last->name, "%s", name);
  (void)snprintf(last->path, sizeof last->path, "%s", path);
}

static int by_kind_and_name(const void *a, const void *b) {
  const known *left = a, *right = b;
  return left->kind != right->kind ? (int)left->kind - (int)right->kind
                                   : strcmp(left->name, right->name);
}

/* All components, loaded and in the folders, sorted by kind and name. The lock is held. The caller
 * releases list->entries, also after a failure. */
static scl_status list_all(listing *list, scl_error *error) {
  for (const entry *e = registry.last; e != NULL; e = e->before)
    for (size_t i = 0; e->replaced == NULL && i < e->count; i++)
      list_add(list, e->components[i].plugin.kind, e->components[i].plugin.name, e->path,
               e->components[i].origin);
  scl_folders_each(list_add, list);
  if (list->failed)
    return scl_fail_memory(error, list->room * sizeof *list->entries, "the list of plugins");
  if (list->count > 0) qsort(list->entries, list->count, sizeof *list->entries, by_kind_and_name);
  return SCL_STATUS_OK;
}

static void visit_all(const listing *list, scl_registry_visit visit, void *context) {
  for (size_t i = 0; i < list->count; i++)
    visit(context, list->entries[i].kind, list->entries[i].name, list->entries[i].path,
          list->entries[i].origin);
}

scl_status scl_registry_each(scl_registry_visit visit, void *context, scl_error *error) {
  listing list = {0};
  pthread_mutex_lock(&registry.lock);
  const scl_status status = list_all(&list, error);
  pthread_mutex_unlock(&registry.lock);
  if (status == SCL_STATUS_OK) visit_all(&list, visit, context);
  scl_release(list.entries);
  return status;
}

void scl_registry_each_loaded(scl_component_visit visit, void *context) {
  pthread_mutex_lock(&registry.lock);
  const entry *last = registry.last;
  pthread_mutex_unlock(&registry.lock);
  /* Without the lock: entries are never released, and new ones are added before `last`. */
  for (const entry *e = last; e != NULL; e = e->before)
    for (size_t i = 0; e->replaced == NULL && i < e->count; i++)
      visit(context, &e->components[i]);
}

scl_status scl_registry_each_file(scl_registry_visit visit, void *context, scl_error *error) {
  listing list = {0};
  scl_folders_each_loose(list_add, &list);
  if (!list.failed) visit_all(&list, visit, context);
  scl_release(list.entries);
  return list.failed ? scl_fail_memory(error, sizeof *list.entries, "the list of plugins")
                     : SCL_STATUS_OK;
}

/* The sentence for an unknown name: the nearest one, and all of its kind. The lock is held. */
static scl_status refuse_unknown(scl_kind kind, const char *name, scl_error *error) {
  listing list = {0};
  const char *names[256] = {NULL};
  char text[600] = "";
  size_t count = 0, used = 0;
  const scl_status status = list_all(&list, error);
  if (status != SCL_STATUS_OK) {
    scl_release(list.entries);
    return status;
  }
  for (size_t i = 0; i < list.count && count < 256; i++) {
    if (list.entries[i].kind != kind) continue;
    names[count++] = list.entries[i].name;
    const int wrote =
        snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", list.entries[i].name);
    used = scl_min(used + (wrote > 0 ? (size_t)wrote : 0), sizeof text - 1);
  }
  const char *near = scl_nearest(name, names, count), *word = scl_kind_name(kind);
  if (count == 0)
    (void)scl_fail(
        error, SCL_STATUS_BAD_OPTION,
        "no %s '%.60s': no %s plugins were found (SCULLERY_PLUGIN_PATH names folders to look in)",
        word, name, word);
  else if (near != NULL)
    (void)scl_fail(error, SCL_STATUS_BAD_OPTION, "no %s '%.60s' (did you mean '%s'?); there are %s",
                   word, name, near, text);
  else
    (void)scl_fail(error, SCL_STATUS_BAD_OPTION, "no %s '%.60s'; there are %s", word, name, text);
  scl_release(list.entries);
  return SCL_STATUS_BAD_OPTION;
}

/* scl_registry_find, with the lock held. If the file that is found does not hold the component, or
 * no longer does, the message says what it holds. */
static scl_status find_locked(scl_kind kind, const char *name, const scl_component **out,
                              scl_error *error) {
  *out = loaded_component(kind, name);
  if (*out != NULL) return SCL_STATUS_OK;
  char path[PATH_MAX];
  scl_plugin_origin origin = SCL_ORIGIN_FILE;
  entry *found = NULL;
  const bool there = scl_is_name(name, false) && scl_folders_find(kind, name, path, &origin);
  const entry *had = there ? NULL : replaced_entry(kind, name);
  if (had != NULL) {
    const scl_plugin *now = &had->replaced->components[0].plugin;
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "the %s '%s' was loaded from %s, and the file now holds the %s '%s'",
                    scl_kind_name(kind), name, had->path, scl_kind_name(now->kind), now->name);
  }
  if (!there) return refuse_unknown(kind, name, error);
  SCL_TRY(load_locked(path, origin, &found, error));
  *out = loaded_component(kind, name);
  if (*out != NULL) return SCL_STATUS_OK;
  const scl_plugin *first = &found->components[0].plugin;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "plugin %s: it holds the %s '%s' where the %s '%s' was looked for", path,
                  scl_kind_name(first->kind), first->name, scl_kind_name(kind), name);
}

scl_status scl_registry_find(scl_kind kind, const char *name, const scl_component **out,
                             scl_error *error) {
  pthread_mutex_lock(&registry.lock);
  const scl_status status = find_locked(kind, name, out, error);
  pthread_mutex_unlock(&registry.lock);
  return status;
}

/* Only components of files, other than built-in and compiled ones, can be loaded again. */
static scl_status check_reloaded(const entry *e, scl_kind kind, const char *name,
                                 scl_error *error) {
  if (e->components[0].origin == SCL_ORIGIN_BUILTIN)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s.%s is built in, from %s, and changes with Scullery alone: start Scullery "
                    "again",
                    scl_kind_name(kind), name, e->path);
  if (e->digest != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s.%s was defined in Lua, at %s: sc.%s.define{...} with the new definition "
                    "takes its place",
                    scl_kind_name(kind), name, e->path, scl_kind_name(kind));
  if (e->found == SCL_ORIGIN_COMPILED)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s.%s was compiled from a source: sc.plugin.compile{...} with the new source "
                    "takes its place",
                    scl_kind_name(kind), name);
  return SCL_STATUS_OK;
}

/* scl_registry_reload, with the lock held. `before` is the entry of the file so far; NULL: none. */
static scl_status reload_locked(scl_kind kind, const char *name, entry **out, bool *changed,
                                scl_error *error) {
  const scl_component *component;
  const entry *before = loaded_entry(kind, name),
              *had = before == NULL ? replaced_entry(kind, name) : NULL;
  if (had != NULL && had->replaced->found != SCL_ORIGIN_COMPILED) before = had->replaced;
  if (before == NULL) SCL_TRY(find_locked(kind, name, &component, error)); /* loads it now */
  const entry *e = before != NULL ? before : loaded_entry(kind, name);
  SCL_TRY(check_reloaded(e, kind, name, error));
  SCL_TRY(load_locked(e->path, e->found, out, error));
  *changed = before != NULL && *out != before;
  return SCL_STATUS_OK;
}

scl_status scl_registry_reload(scl_kind kind, const char *name, bool *changed,
                               scl_component_visit visit, void *context, scl_error *error) {
  entry *e = NULL;
  pthread_mutex_lock(&registry.lock);
  const scl_status status = reload_locked(kind, name, &e, changed, error);
  pthread_mutex_unlock(&registry.lock);
  for (size_t i = 0; status == SCL_STATUS_OK && i < e->count; i++)
    visit(context, &e->components[i]);
  return status;
}
