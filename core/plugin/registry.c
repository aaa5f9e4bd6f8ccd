#define _GNU_SOURCE
#include "plugin/registry.h"

#include "base/text.h"
#include "plugin/check.h"
#include "plugin/crash.h"
#include "plugin/object.h"
#include "plugin/tables.h"
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const kind_names[SCL_KINDS] = {"sampler", "nonlinearity", "kernel", "solver"};

/* An object that was loaded, with its components. Components stay until the process ends: instances
 * point to them. */
typedef struct entry {
  char *path;
  scl_identity identity;
  bool mapped; /* its code lies in the file itself, not in a copy */
  scl_component *components;
  size_t count;
  const struct entry *replaced; /* by the newest entry of this path; NULL: it is the newest */
  struct entry *before; /* the newest first, so that a changed file's components come first */
} entry;

static struct {
  pthread_mutex_t lock;
  entry *last;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ------------------------------------------------------------ names */

const char *scl_kind_name(scl_kind kind) {
  return (unsigned)kind < SCL_KINDS ? kind_names[kind] : "component";
}

bool scl_kind_find(const char *name, scl_kind *out) {
  for (int i = 0; i < SCL_KINDS; i++)
    if (strcmp(name, kind_names[i]) == 0) {
      *out = (scl_kind)i;
      return true;
    }
  return false;
}

#define SMALL_LETTERS "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

bool scl_is_name(const char *text, bool capitals) {
  static const char *const keywords[] = {"and",   "break", "do",       "else", "elseif", "end",
                                         "false", "for",   "function", "goto", "if",     "in",
                                         "local", "nil",   "not",      "or",   "repeat", "return",
                                         "then",  "true",  "until",    "while"};
  const char *letters = capitals ? SMALL_LETTERS CAPITALS : SMALL_LETTERS;
  const char *all = capitals ? SMALL_LETTERS CAPITALS "0123456789_" : SMALL_LETTERS "0123456789_";
  if (text == NULL || text[0] == 0 || strchr(letters, text[0]) == NULL) return false;
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (strcmp(text, keywords[i]) == 0) return false;
  const size_t length = strspn(text, all);
  return length <= 40 && text[length] == 0;
}

/* ------------------------------------------------------------ what is loaded; the lock is held */

static const scl_component *component_of(const entry *e, scl_kind kind, const char *name) {
  for (size_t i = 0; i < e->count; i++)
    if (e->components[i].plugin.kind == kind && strcmp(e->components[i].plugin.name, name) == 0)
      return &e->components[i];
  return NULL;
}

/* What a file held before it was replaced is for instances that were made by then. */
static const scl_component *loaded(scl_kind kind, const char *name) {
  const scl_component *found = NULL;
  for (const entry *e = registry.last; e != NULL && found == NULL; e = e->before)
    if (e->replaced == NULL) found = component_of(e, kind, name);
  return found;
}

/* An entry that had it, and was replaced by one that has not; NULL: none. */
static const entry *former(scl_kind kind, const char *name) {
  const entry *e = registry.last;
  while (e != NULL && (e->replaced == NULL || component_of(e, kind, name) == NULL))
    e = e->before;
  return e;
}

/* A copy of the plugin's option rows at the host's stride. */
static scl_status copy_options(const scl_plugin *plugin, const scl_option **out, scl_error *error) {
  scl_option *rows = scl_allocate_zero((plugin->n_options + 1) * sizeof *rows);
  if (rows == NULL) return scl_fail_memory(error, sizeof *rows, "a plugin");
  for (size_t i = 0; i < plugin->n_options; i++)
    memcpy(&rows[i], (const char *)plugin->options + i * plugin->option_size,
           scl_min(plugin->option_size, sizeof *rows));
  *out = rows;
  return SCL_STATUS_OK;
}

static scl_status describe(const scl_plugin *own, const char *path, bool builtin,
                           scl_component *out, scl_error *error) {
  const scl_table_rule *rule = scl_rule_of_kind(own->kind);
  void *room = scl_allocate_zero(rule->size);
  if (room == NULL) return scl_fail_memory(error, rule->size, "a plugin");
  *out = (scl_component){.source = own, .path = path, .builtin = builtin};
  (void)scl_table_read(own, sizeof out->plugin, &out->plugin);
  if (own->head.size >= sizeof out->plugin) memcpy(&out->plugin, own, sizeof out->plugin);
  out->vtable = scl_table_read(own->vtable, rule->size, room);
  if (out->vtable != room) scl_release(room);
  return copy_options(&out->plugin, &out->options, error);
}

static void forget(entry *e) {
  for (size_t i = 0; e->components != NULL && i < e->count; i++) {
    scl_component *one = &e->components[i];
    if (one->vtable != NULL && one->vtable != one->source->vtable)
      scl_release((void *)(uintptr_t)one->vtable);
    scl_release((void *)(uintptr_t)one->options);
  }
  SCL_RELEASE(e->components, e->path, e);
}

/* ------------------------------------------------------------ where to look */

/* The folder that libscullery itself lies in. */
static bool own_folder(char folder[PATH_MAX]) {
  Dl_info info;
  if (dladdr((const void *)(uintptr_t)&scl_registry_search_path, &info) == 0 ||
      realpath(info.dli_fname, folder) == NULL)
    return false;
  char *slash = strrchr(folder, '/');
  if (slash == NULL) return false;
  *slash = 0;
  return true;
}

/* The folders of the built-in plugins, of an installation and of a build tree, separated by ':'. */
static bool own_folders(char folders[2 * PATH_MAX + 32]) {
  char folder[PATH_MAX];
  if (!own_folder(folder)) return false;
  (void)snprintf(folders, 2 * PATH_MAX + 32, "%s/scullery/plugins:%s/plugins", folder, folder);
  return true;
}

char *scl_registry_search_path(void) {
  char own[2 * PATH_MAX + 32] = "";
  const char *asked = getenv("SCULLERY_PLUGIN_PATH");
  const bool known = own_folders(own), some = asked != NULL && *asked != 0;
  const size_t size = (some ? strlen(asked) : 0) + strlen(own) + 2;
  char *path = scl_allocate(size);
  if (path == NULL) return NULL;
  (void)snprintf(path, size, "%s%s%s", some ? asked : "", some && known ? ":" : "", own);
  return path;
}

/* Whether a real path lies in a folder of the built-in plugins. */
static bool is_builtin(const char *real) {
  char own[2 * PATH_MAX + 32], folder[PATH_MAX], *save = NULL;
  if (!own_folders(own)) return false;
  for (char *one = strtok_r(own, ":", &save); one != NULL; one = strtok_r(NULL, ":", &save)) {
    if (realpath(one, folder) == NULL) continue;
    const size_t length = strlen(folder);
    if (strncmp(real, folder, length) == 0 && real[length] == '/') return true;
  }
  return false;
}

/* Call visit for each folder of a list; stops when it returns true. */
static bool each_folder(char *folders, bool (*visit)(void *context, const char *folder),
                        void *context) {
  char *save = NULL;
  bool found = false;
  for (char *folder = folders == NULL ? NULL : strtok_r(folders, ":", &save);
       folder != NULL && !found; folder = strtok_r(NULL, ":", &save))
    found = visit(context, folder);
  return found;
}

typedef struct search {
  scl_kind kind;
  const char *name;
  char path[PATH_MAX];
} search;

/* A pipe or device is there too: loading it is refused with a sentence of its own. */
static bool is_there(const char *path) {
  struct stat file;
  return stat(path, &file) == 0 && !S_ISDIR(file.st_mode);
}

static bool look_in(void *context, const char *folder) {
  search *wanted = context;
  int used = snprintf(wanted->path, sizeof wanted->path, "%s/%s/%s.so", folder,
                      kind_names[wanted->kind], wanted->name);
  if (used > 0 && (size_t)used < sizeof wanted->path && is_there(wanted->path)) return true;
  used = snprintf(wanted->path, sizeof wanted->path, "%s/%s.so", folder, wanted->name);
  return used > 0 && (size_t)used < sizeof wanted->path && is_there(wanted->path);
}

/* The file of the built-in component of that kind and name. */
static bool find_builtin(scl_kind kind, const char *name, char real[PATH_MAX]) {
  char own[2 * PATH_MAX + 32];
  search wanted = {.kind = kind, .name = name};
  return own_folders(own) && each_folder(own, look_in, &wanted) &&
         realpath(wanted.path, real) != NULL;
}

/* ------------------------------------------------------------ loading; the lock is held */

/* A name has one component: another file's, or a built-in that was not loaded yet, is not
 * replaced. */
static scl_status check_name(const scl_plugin *plugin, const char *real, scl_error *error) {
  char builtin[PATH_MAX];
  const scl_component *other = loaded(plugin->kind, plugin->name);
  const char *path = other == NULL ? NULL : other->path;
  if (path == NULL && !is_builtin(real) && find_builtin(plugin->kind, plugin->name, builtin))
    path = builtin;
  if (path == NULL || strcmp(path, real) == 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "there is a %s '%s' already, %sfrom %s: give this one another name",
                  scl_kind_name(plugin->kind), plugin->name, is_builtin(path) ? "built in, " : "",
                  path);
}

/* Two components of one list may not have one name. */
static scl_status check_twice(const scl_plugin *const *plugins, size_t i, scl_error *error) {
  for (size_t k = 0; k < i; k++)
    if (plugins[k]->kind == plugins[i]->kind && strcmp(plugins[k]->name, plugins[i]->name) == 0)
      return scl_fail(error, SCL_STATUS_UNSUPPORTED, "it holds the %s '%s' twice",
                      scl_kind_name(plugins[i]->kind), plugins[i]->name);
  return SCL_STATUS_OK;
}

static scl_status check_all(const scl_plugin *const *plugins, size_t count, const char *real,
                            scl_error *error) {
  for (size_t i = 0; i < count; i++) {
    scl_status status = scl_check_plugin(plugins[i], error);
    if (status == SCL_STATUS_OK) status = check_twice(plugins, i, error);
    if (status == SCL_STATUS_OK) status = check_name(plugins[i], real, error);
    if (status != SCL_STATUS_OK) {
      (void)scl_prefix(error, "plugin %s", real);
      return status;
    }
  }
  return SCL_STATUS_OK;
}

static scl_status enter(const scl_plugin *const *plugins, size_t count, const char *real,
                        const scl_identity *identity, entry **out, scl_error *error) {
  entry *e = scl_allocate_zero(sizeof *e);
  if (e == NULL) return scl_fail_memory(error, sizeof *e, "a plugin");
  e->identity = *identity;
  e->path = scl_copy_text(real);
  e->components = scl_allocate_zero((count + 1) * sizeof *e->components);
  scl_status status = e->path == NULL || e->components == NULL
                          ? scl_fail_memory(error, count * sizeof *e->components, "a plugin")
                          : SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    e->count = i + 1; /* forget() releases what a failure left behind */
    status = describe(plugins[i], e->path, is_builtin(real), &e->components[i], error);
  }
  if (status != SCL_STATUS_OK) {
    forget(e);
    return status;
  }
  for (entry *old = registry.last; old != NULL; old = old->before)
    if (strcmp(old->path, e->path) == 0) old->replaced = e;
  e->before = registry.last;
  registry.last = *out = e;
  return SCL_STATUS_OK;
}

/* by_name: the path was given, where otherwise the search found it. The built-in plugins lie beside
 * the library, whose code runs already: they are as safe as it is. */
static scl_status load_locked(const char *path, bool by_name, entry **out, scl_error *error) {
  char real[PATH_MAX];
  scl_identity identity;
  bool again = false;
  SCL_TRY(scl_object_find(path, real, &identity, error));
  if (!is_builtin(real)) SCL_TRY(scl_object_check(real, by_name, error));
  for (entry *e = registry.last; e != NULL; e = e->before) {
    if (strcmp(e->path, real) != 0) continue;
    if (!again && scl_identity_same(&e->identity, &identity)) {
      *out = e;
      return SCL_STATUS_OK;
    }
    again = true;
    if (e->mapped && e->identity.device == identity.device && e->identity.inode == identity.inode)
      return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "plugin %s: it was overwritten while it is loaded, which changes code that "
                      "may be running: start Scullery again (a file that is moved or linked to "
                      "this place, as compilers do, can be loaded at once)",
                      real);
  }
  const scl_plugin *const *plugins = NULL;
  void *handle = NULL;
  size_t count = 0;
  SCL_TRY(scl_object_open(real, again, &plugins, &count, &handle, error));
  scl_component unnamed;
  scl_call call;
  scl_object_enter(&call, &unnamed, real, "the check of its tables");
  scl_status status = check_all(plugins, count, real, error);
  if (status == SCL_STATUS_OK) status = enter(plugins, count, real, &identity, out, error);
  scl_call_drop(&call);
  if (status == SCL_STATUS_OK) {
    (*out)->mapped = !again;
    if (!is_builtin(real)) scl_crash_suspect((*out)->path);
  }
  scl_object_close(status == SCL_STATUS_OK ? NULL : handle, real, plugins);
  return status;
}

scl_status scl_registry_load(const char *path, scl_component_visit visit, void *context,
                             scl_error *error) {
  entry *e = NULL;
  pthread_mutex_lock(&registry.lock);
  const scl_status status = load_locked(path, true, &e, error);
  pthread_mutex_unlock(&registry.lock);
  for (size_t i = 0; status == SCL_STATUS_OK && i < e->count; i++)
    visit(context, &e->components[i]);
  return status;
}

/* ------------------------------------------------------------ what there is */

typedef struct known {
  scl_kind kind;
  char name[48];
  char path[PATH_MAX];
} known;

typedef struct listing {
  known *entries;
  size_t count, room;
  bool failed;
} listing;

static void note(listing *list, scl_kind kind, const char *name, const char *path) {
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
  (void)snprintf(last->name, sizeof last->name, "%s", name);
  (void)snprintf(last->path, sizeof last->path, "%s", path);
}

/* Each NAME.so of a folder. */
static void list_files(listing *list, scl_kind kind, const char *folder) {
  char path[PATH_MAX], name[64];
  DIR *files = opendir(folder);
  for (struct dirent *file = files == NULL ? NULL : readdir(files); file != NULL;
       file = readdir(files)) {
    const size_t length = strlen(file->d_name);
    if (length < 4 || length > 60 || strcmp(file->d_name + length - 3, ".so") != 0) continue;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length - 3), file->d_name);
    const size_t used = (size_t)snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
    if (used < sizeof path && scl_is_name(name, false)) note(list, kind, name, path);
  }
  if (files != NULL) closedir(files);
}

static bool list_folder(void *context, const char *folder) {
  char path[PATH_MAX];
  for (int kind = 0; kind < SCL_KINDS; kind++)
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, kind_names[kind]) < sizeof path)
      list_files(context, (scl_kind)kind, path);
  return false;
}

/* Files whose kind is not known before they are opened. */
static bool list_loose(void *context, const char *folder) {
  list_files(context, SCL_KINDS, folder);
  return false;
}

static int by_kind_and_name(const void *a, const void *b) {
  const known *left = a, *right = b;
  return left->kind != right->kind ? (int)left->kind - (int)right->kind
                                   : strcmp(left->name, right->name);
}

static scl_status no_path(scl_error *error) {
  return scl_fail_memory(error, PATH_MAX, "the folders of plugins");
}

static scl_status list_all(listing *list, scl_error *error) {
  char *path = scl_registry_search_path();
  if (path == NULL) return no_path(error);
  for (const entry *e = registry.last; e != NULL; e = e->before)
    for (size_t i = 0; e->replaced == NULL && i < e->count; i++)
      note(list, e->components[i].plugin.kind, e->components[i].plugin.name, e->path);
  (void)each_folder(path, list_folder, list);
  scl_release(path);
  if (list->failed)
    return scl_fail_memory(error, list->room * sizeof *list->entries, "the list of plugins");
  if (list->count > 0) qsort(list->entries, list->count, sizeof *list->entries, by_kind_and_name);
  return SCL_STATUS_OK;
}

scl_status scl_registry_each(scl_registry_visit visit, void *context, scl_error *error) {
  listing list = {0};
  pthread_mutex_lock(&registry.lock);
  const scl_status status = list_all(&list, error);
  pthread_mutex_unlock(&registry.lock);
  for (size_t i = 0; status == SCL_STATUS_OK && i < list.count; i++)
    visit(context, list.entries[i].kind, list.entries[i].name, list.entries[i].path);
  scl_release(list.entries);
  return status;
}

void scl_registry_each_loaded(scl_component_visit visit, void *context) {
  pthread_mutex_lock(&registry.lock);
  const entry *last = registry.last;
  pthread_mutex_unlock(&registry.lock);
  for (const entry *e = last; e != NULL; e = e->before) /* entries stay */
    for (size_t i = 0; e->replaced == NULL && i < e->count; i++)
      visit(context, &e->components[i]);
}

scl_status scl_registry_each_file(scl_registry_visit visit, void *context, scl_error *error) {
  listing list = {0};
  char *path = scl_registry_search_path();
  if (path == NULL) return no_path(error);
  (void)each_folder(path, list_loose, &list);
  scl_release(path);
  for (size_t i = 0; !list.failed && i < list.count; i++)
    visit(context, list.entries[i].kind, list.entries[i].name, list.entries[i].path);
  scl_release(list.entries);
  return list.failed ? scl_fail_memory(error, sizeof *list.entries, "the list of plugins")
                     : SCL_STATUS_OK;
}

/* The lock is held. */
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

static scl_status find_locked(scl_kind kind, const char *name, const scl_component **out,
                              scl_error *error) {
  *out = loaded(kind, name);
  if (*out != NULL) return SCL_STATUS_OK;
  search wanted = {.kind = kind, .name = name};
  entry *found = NULL;
  char *path = scl_registry_search_path();
  if (path == NULL) return no_path(error);
  const bool there = scl_is_name(name, false) && each_folder(path, look_in, &wanted);
  scl_release(path);
  const entry *had = there ? NULL : former(kind, name);
  if (had != NULL) {
    const scl_plugin *now = &had->replaced->components[0].plugin;
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "the %s '%s' was loaded from %s, and the file now holds the %s '%s'",
                    scl_kind_name(kind), name, had->path, scl_kind_name(now->kind), now->name);
  }
  if (!there) return refuse_unknown(kind, name, error);
  SCL_TRY(load_locked(wanted.path, false, &found, error));
  *out = loaded(kind, name);
  if (*out != NULL) return SCL_STATUS_OK;
  const scl_plugin *first = &found->components[0].plugin;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "plugin %s: it holds the %s '%s' where the %s '%s' was looked for", wanted.path,
                  scl_kind_name(first->kind), first->name, scl_kind_name(kind), name);
}

scl_status scl_registry_find(scl_kind kind, const char *name, const scl_component **out,
                             scl_error *error) {
  pthread_mutex_lock(&registry.lock);
  const scl_status status = find_locked(kind, name, out, error);
  pthread_mutex_unlock(&registry.lock);
  return status;
}
