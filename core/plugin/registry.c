#define _GNU_SOURCE
#include "plugin/registry.h"

#include "plugin/options.h"
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const kind_names[SCL_KIND_COUNT] = {"sampler", "nonlinearity", "kernel",
                                                       "solver"};

/* Loaded components stay until the process ends: instances point into them. */
static struct {
  pthread_mutex_t lock;
  scl_component **list;
  size_t count;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

const char *scl_kind_name(scl_kind kind) {
  return (unsigned)kind < SCL_KIND_COUNT ? kind_names[kind] : "component";
}

bool scl_kind_find(const char *name, scl_kind *out) {
  for (int i = 0; i < SCL_KIND_COUNT; i++)
    if (strcmp(name, kind_names[i]) == 0) {
      *out = (scl_kind)i;
      return true;
    }
  return false;
}

static const scl_component *loaded(scl_kind kind, const char *name) {
  for (size_t i = 0; i < registry.count; i++)
    if (registry.list[i]->plugin->kind == kind && strcmp(registry.list[i]->plugin->name, name) == 0)
      return registry.list[i];
  return NULL;
}

/* ---------------------------------------------------------------- is it safe, is it a plugin? */

static scl_status check_file(const char *path, scl_error *error) {
  struct stat file;
  if (stat(path, &file) != 0)
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: no such file", path);
  if (S_ISDIR(file.st_mode))
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: this is a folder; give the .so file", path);
  if (!S_ISREG(file.st_mode))
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: this is no plain file", path);
  if (file.st_mode & S_IWOTH)
    return scl_fail(error, SCL_STATUS_IO,
                    "plugin %s: refused, because every user may write this file (chmod o-w makes "
                    "it acceptable)",
                    path);
  if (file.st_uid != 0 && file.st_uid != geteuid())
    return scl_fail(error, SCL_STATUS_IO,
                    "plugin %s: refused, because it belongs to another user (uid %lu)", path,
                    (unsigned long)file.st_uid);
  return SCL_STATUS_OK;
}

#define SMALL_LETTERS "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool good_name(const char *name) {
  if (name == NULL || name[0] < 'a' || name[0] > 'z' || strlen(name) > 40) return false;
  return name[strspn(name, SMALL_LETTERS "0123456789_")] == 0;
}

/* An option may bear the symbol that its paper gives it: C, B. */
static bool good_option_name(const char *name) {
  if (name == NULL || name[0] == 0 || strchr(SMALL_LETTERS CAPITALS, name[0]) == NULL ||
      strlen(name) > 40)
    return false;
  return name[strspn(name, SMALL_LETTERS CAPITALS "0123456789_")] == 0;
}

static size_t vtable_size(scl_kind kind) {
  static const size_t sizes[SCL_KIND_COUNT] = {sizeof(scl_sampler), sizeof(scl_nonlinearity),
                                               sizeof(scl_kernel), sizeof(scl_solver)};
  return sizes[kind];
}

static bool good_options(const scl_plugin *plugin) {
  for (size_t i = 0; i < plugin->n_options; i++)
    if (!good_option_name(plugin->options[i].name) || plugin->options[i].forms == 0 ||
        plugin->options[i].help == NULL)
      return false;
  return true;
}

static scl_status check_descriptor(const scl_plugin *plugin, const char *path, scl_error *error) {
  if (plugin->head.abi != SCL_ABI)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: built for plugin interface %u; this Scullery speaks %u: build it "
                    "again with this version's scullery/plugin.h",
                    path, plugin->head.abi, SCL_ABI);
  if (plugin->head.size < sizeof(scl_plugin))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: its descriptor has %u bytes where interface %u has %zu", path,
                    plugin->head.size, SCL_ABI, sizeof(scl_plugin));
  if ((unsigned)plugin->kind >= SCL_KIND_COUNT)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "plugin %s: unknown kind %d", path,
                    (int)plugin->kind);
  if (!good_name(plugin->name))
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "plugin %s: its name must be 1 to 40 of a-z, 0-9 and _, and begin with a letter", path);
  if (plugin->version == NULL || plugin->summary == NULL || plugin->doc == NULL ||
      plugin->author == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: version, author, summary and doc must be texts", path);
  if (plugin->vtable == NULL || plugin->create == NULL || plugin->destroy == NULL ||
      plugin->ability == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: vtable, create, destroy and ability must be there", path);
  if ((plugin->n_options > 0 && plugin->options == NULL) || !good_options(plugin))
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "plugin %s: each option needs a name (letters, 0-9, _), its forms and a line of help",
        path);
  const scl_head *table = plugin->vtable;
  if (table->abi != SCL_ABI || table->size < vtable_size(plugin->kind))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: its %s table is of another interface (%u, %u bytes)", path,
                    scl_kind_name(plugin->kind), table->abi, table->size);
  return SCL_STATUS_OK;
}

/* The lock is held. */
static scl_status enter(const scl_plugin *plugin, const char *path, const scl_component **out,
                        scl_error *error) {
  const scl_component *other = loaded(plugin->kind, plugin->name);
  if (other != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "plugin %s: there is a %s '%s' already, from %s",
                    path, scl_kind_name(plugin->kind), plugin->name, other->path);
  scl_component *component = scl_allocate_zero(sizeof *component);
  scl_component **list =
      component == NULL ? NULL : scl_allocate_array(registry.count + 1, sizeof *list);
  char *copy = list == NULL ? NULL : scl_copy_text(path);
  if (copy == NULL) {
    scl_release(list);
    scl_release(component);
    return scl_fail_memory(error, sizeof *component, "a plugin");
  }
  if (registry.count > 0) memcpy(list, registry.list, registry.count * sizeof *list);
  *component = (scl_component){plugin, copy};
  list[registry.count++] = component;
  scl_release(registry.list);
  registry.list = list;
  *out = component;
  return SCL_STATUS_OK;
}

static scl_status load_locked(const char *path, const scl_component **out, scl_error *error) {
  char real[PATH_MAX];
  SCL_TRY(check_file(path, error));
  if (realpath(path, real) == NULL)
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: cannot be reached", path);
  for (size_t i = 0; i < registry.count; i++)
    if (strcmp(registry.list[i]->path, real) == 0) {
      *out = registry.list[i];
      return SCL_STATUS_OK;
    }
  void *library = dlopen(real, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "plugin %s: not a loadable shared object: %s",
                    path, dlerror());
  const scl_plugin *plugin = dlsym(library, "scullery_plugin");
  scl_status status =
      plugin == NULL
          ? scl_fail(error, SCL_STATUS_UNSUPPORTED,
                     "plugin %s: it has no symbol 'scullery_plugin', so it is no Scullery plugin",
                     path)
          : check_descriptor(plugin, path, error);
  if (status == SCL_STATUS_OK) status = enter(plugin, real, out, error);
  if (status != SCL_STATUS_OK) dlclose(library);
  return status;
}

scl_status scl_registry_load(const char *path, const scl_component **out, scl_error *error) {
  pthread_mutex_lock(&registry.lock);
  const scl_status status = load_locked(path, out, error);
  pthread_mutex_unlock(&registry.lock);
  return status;
}

/* ---------------------------------------------------------------- where to look */

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

char *scl_registry_search_path(void) {
  char folder[PATH_MAX] = "";
  const char *asked = getenv("SCULLERY_PLUGIN_PATH");
  const bool known = own_folder(folder);
  const size_t size = (asked == NULL ? 0 : strlen(asked)) + 2 * strlen(folder) + 64;
  char *path = scl_allocate(size);
  if (path == NULL) return NULL;
  const char *first = asked == NULL ? "" : asked, *colon = asked == NULL || *asked == 0 ? "" : ":";
  if (known)
    (void)snprintf(path, size, "%s%s%s/scullery/plugins:%s/plugins", first, colon, folder, folder);
  else
    (void)snprintf(path, size, "%s", first);
  return path;
}

/* Call visit for each folder of the search path; stops when it returns true. */
static bool each_folder(bool (*visit)(void *context, const char *folder), void *context) {
  char *path = scl_registry_search_path(), *save = NULL;
  bool found = false;
  for (char *folder = path == NULL ? NULL : strtok_r(path, ":", &save); folder != NULL && !found;
       folder = strtok_r(NULL, ":", &save))
    found = visit(context, folder);
  scl_release(path);
  return found;
}

typedef struct search {
  scl_kind kind;
  const char *name;
  char path[PATH_MAX];
} search;

static bool readable(const char *path) {
  struct stat file;
  return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

static bool look_in(void *context, const char *folder) {
  search *wanted = context;
  int used = snprintf(wanted->path, sizeof wanted->path, "%s/%s/%s.so", folder,
                      kind_names[wanted->kind], wanted->name);
  if (used > 0 && (size_t)used < sizeof wanted->path && readable(wanted->path)) return true;
  used = snprintf(wanted->path, sizeof wanted->path, "%s/%s.so", folder, wanted->name);
  return used > 0 && (size_t)used < sizeof wanted->path && readable(wanted->path);
}

/* ---------------------------------------------------------------- what there is */

typedef struct entry {
  scl_kind kind;
  char name[48];
  char path[PATH_MAX];
} entry;

typedef struct listing {
  entry *entries;
  size_t count, room;
  bool failed;
} listing;

static void note(listing *list, scl_kind kind, const char *name, const char *path) {
  if (strlen(name) >= sizeof list->entries->name || strlen(path) >= PATH_MAX) return;
  for (size_t i = 0; i < list->count; i++)
    if (list->entries[i].kind == kind && strcmp(list->entries[i].name, name) == 0) return;
  if (list->count == list->room) {
    const size_t room = 2 * list->room + 32;
    entry *more = scl_allocate_array(room, sizeof *more);
    if (more == NULL) {
      list->failed = true;
      return;
    }
    if (list->count > 0) memcpy(more, list->entries, list->count * sizeof *more);
    scl_release(list->entries);
    list->entries = more;
    list->room = room;
  }
  entry *last = &list->entries[list->count++];
  last->kind = kind;
  (void)snprintf(last->name, sizeof last->name, "%s", name);
  (void)snprintf(last->path, sizeof last->path, "%s", path);
}

static bool list_folder(void *context, const char *folder) {
  char path[PATH_MAX], name[64];
  for (int kind = 0; kind < SCL_KIND_COUNT; kind++) {
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, kind_names[kind]) >= sizeof path)
      continue;
    DIR *files = opendir(path);
    for (struct dirent *file = files == NULL ? NULL : readdir(files); file != NULL;
         file = readdir(files)) {
      const size_t length = strlen(file->d_name);
      if (length < 4 || length > 60 || strcmp(file->d_name + length - 3, ".so") != 0) continue;
      (void)snprintf(name, sizeof name, "%.*s", (int)(length - 3), file->d_name);
      const size_t used =
          (size_t)snprintf(path, sizeof path, "%s/%s/%s", folder, kind_names[kind], file->d_name);
      if (used < sizeof path && good_name(name)) note(context, (scl_kind)kind, name, path);
    }
    if (files != NULL) closedir(files);
  }
  return false;
}

static int by_kind_and_name(const void *a, const void *b) {
  const entry *left = a, *right = b;
  return left->kind != right->kind ? (int)left->kind - (int)right->kind
                                   : strcmp(left->name, right->name);
}

static scl_status list_all(listing *list, scl_error *error) {
  for (size_t i = 0; i < registry.count; i++)
    note(list, registry.list[i]->plugin->kind, registry.list[i]->plugin->name,
         registry.list[i]->path);
  (void)each_folder(list_folder, list);
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

/* The lock is held. */
static scl_status refuse_unknown(scl_kind kind, const char *name, scl_error *error) {
  listing list = {0};
  const char *names[256] = {NULL};
  char text[600] = "";
  size_t count = 0, used = 0;
  if (list_all(&list, error) != SCL_STATUS_OK) list.count = 0;
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
        "no %s '%s': no %s plugins were found (SCULLERY_PLUGIN_PATH names folders to look in)",
        word, name, word);
  else if (near != NULL)
    (void)scl_fail(error, SCL_STATUS_BAD_OPTION, "no %s '%s' (did you mean '%s'?); there are %s",
                   word, name, near, text);
  else
    (void)scl_fail(error, SCL_STATUS_BAD_OPTION, "no %s '%s'; there are %s", word, name, text);
  scl_release(list.entries);
  return SCL_STATUS_BAD_OPTION;
}

static scl_status find_locked(scl_kind kind, const char *name, const scl_component **out,
                              scl_error *error) {
  *out = loaded(kind, name);
  if (*out != NULL) return SCL_STATUS_OK;
  search wanted = {.kind = kind, .name = name};
  if (!good_name(name) || !each_folder(look_in, &wanted)) return refuse_unknown(kind, name, error);
  SCL_TRY(load_locked(wanted.path, out, error));
  const scl_plugin *plugin = (*out)->plugin;
  if (plugin->kind == kind && strcmp(plugin->name, name) == 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "plugin %s: it holds the %s '%s' where the %s '%s' was looked for", wanted.path,
                  scl_kind_name(plugin->kind), plugin->name, scl_kind_name(kind), name);
}

scl_status scl_registry_find(scl_kind kind, const char *name, const scl_component **out,
                             scl_error *error) {
  pthread_mutex_lock(&registry.lock);
  const scl_status status = find_locked(kind, name, out, error);
  pthread_mutex_unlock(&registry.lock);
  return status;
}
