/* The folders in which plugins are searched, in order: SCULLERY_PLUGIN_PATH, the user's folder, the
 * built-in plugins. The plugin NAME of a kind is FOLDER/KIND/NAME.so or FOLDER/NAME.so. */
#define _GNU_SOURCE
#include "plugin/folders.h"

#include "base/installation.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Called for each folder; true ends the walk. */
typedef bool (*folder_visit)(void *context, const char *folder, scl_plugin_origin origin);

/* ------------ the folders */

bool scl_folders_user(char folder[PATH_MAX]) {
  const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  int used = -1;
  if (data != NULL && data[0] == '/')
    used = snprintf(folder, PATH_MAX, "%s/scullery/plugins", data);
  else if (home != NULL && home[0] == '/')
    used = snprintf(folder, PATH_MAX, "%s/.local/share/scullery/plugins", home);
  return used > 0 && used < PATH_MAX;
}

/* The folders of SCULLERY_PLUGIN_PATH, which colons separate; empty ones are skipped. */
static bool each_of_variable(folder_visit visit, void *context) {
  char folder[PATH_MAX];
  const char *path = getenv("SCULLERY_PLUGIN_PATH");
  for (size_t length; path != NULL && *path != 0; path += length + (path[length] == ':')) {
    length = strcspn(path, ":");
    if (length == 0 || length >= sizeof folder) continue;
    memcpy(folder, path, length);
    folder[length] = 0;
    if (visit(context, folder, SCL_ORIGIN_VARIABLE)) return true;
  }
  return false;
}

/* The built-in plugins of an installation, and of a build tree. */
static bool each_of_builtins(folder_visit visit, void *context) {
  char own[PATH_MAX], folder[PATH_MAX + 32];
  if (!scl_own_folder(own)) return false;
  (void)snprintf(folder, sizeof folder, "%s/scullery/plugins", own);
  if (visit(context, folder, SCL_ORIGIN_BUILTIN)) return true;
  (void)snprintf(folder, sizeof folder, "%s/plugins", own);
  return visit(context, folder, SCL_ORIGIN_BUILTIN);
}

/* Visit all folders in the order of the search. True: a visit ended the walk. */
static bool each_folder(folder_visit visit, void *context) {
  char user[PATH_MAX];
  return each_of_variable(visit, context) ||
         (scl_folders_user(user) && visit(context, user, SCL_ORIGIN_USER)) ||
         each_of_builtins(visit, context);
}

/* A file whose folder is looked for, by its real path. */
typedef struct placed {
  const char *real;
  scl_plugin_origin origin;
} placed;

/* Whether the file is within the folder; its origin is then that of the folder. */
static bool is_in_folder(void *context, const char *folder, scl_plugin_origin origin) {
  placed *file = context;
  char real[PATH_MAX];
  if (realpath(folder, real) == NULL) return false;
  const size_t length = strlen(real);
  const bool within = strncmp(file->real, real, length) == 0 && file->real[length] == '/';
  if (within) file->origin = origin;
  return within;
}

/* The built-in folders are compared first: their plugins count as built in even if
 * SCULLERY_PLUGIN_PATH names the same folder. */
scl_plugin_origin scl_folders_origin(const char *real) {
  placed file = {.real = real, .origin = SCL_ORIGIN_FILE};
  if (!each_of_builtins(is_in_folder, &file)) (void)each_folder(is_in_folder, &file);
  return file.origin;
}

/* ------------ one file */

/* A component that is looked for. `path` is the caller's memory, PATH_MAX bytes. */
typedef struct search {
  scl_kind kind;
  const char *name;
  char *path;
  scl_plugin_origin origin;
} search;

/* Whether the path is anything but a folder. A pipe or device counts: loading it is refused with a
 * message about it. */
static bool is_there(const char *path) {
  struct stat file;
  return stat(path, &file) == 0 && !S_ISDIR(file.st_mode);
}

/* Whether the folder has the wanted file, at one of its two places. */
static bool look_in(void *context, const char *folder, scl_plugin_origin origin) {
  search *wanted = context;
  wanted->origin = origin;
  int used = snprintf(wanted->path, PATH_MAX, "%s/%s/%s.so", folder, scl_kind_name(wanted->kind),
                      wanted->name);
  if (used > 0 && used < PATH_MAX && is_there(wanted->path)) return true;
  used = snprintf(wanted->path, PATH_MAX, "%s/%s.so", folder, wanted->name);
  return used > 0 && used < PATH_MAX && is_there(wanted->path);
}

bool scl_folders_find(scl_kind kind, const char *name, char path[PATH_MAX],
                      scl_plugin_origin *origin) {
  search wanted = {.kind = kind, .name = name, .path = path};
  if (!each_folder(look_in, &wanted)) return false;
  *origin = wanted.origin;
  return true;
}

bool scl_folders_find_builtin(scl_kind kind, const char *name, char real[PATH_MAX]) {
  char path[PATH_MAX];
  search wanted = {.kind = kind, .name = name, .path = path};
  return each_of_builtins(look_in, &wanted) && realpath(path, real) != NULL;
}

/* ------------ all files */

typedef struct walk {
  scl_folders_visit visit;
  void *context;
} walk;

/* Visit each NAME.so of a folder whose NAME may name a component. A folder that does not exist has
 * none. */
static void list_files(const walk *w, scl_kind kind, const char *folder, scl_plugin_origin origin) {
  char path[PATH_MAX], name[64];
  DIR *files = opendir(folder);
  for (struct dirent *file = files == NULL ? NULL : readdir(files); file != NULL;
       file = readdir(files)) {
    const size_t length = strlen(file->d_name);
    if (length < 4 || length > 60 || strcmp(file->d_name + length - 3, ".so") != 0) continue;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length - 3), file->d_name);
    const size_t used = (size_t)snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
    if (used < sizeof path && scl_is_name(name, false))
      w->visit(w->context, kind, name, path, origin);
  }
  if (files != NULL) closedir(files);
}

/* Visit the files of the four folders FOLDER/KIND. */
static bool list_kinds(void *context, const char *folder, scl_plugin_origin origin) {
  char path[PATH_MAX];
  for (int kind = 0; kind < SCL_KINDS; kind++)
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, scl_kind_name((scl_kind)kind)) <
        sizeof path)
      list_files(context, (scl_kind)kind, path, origin);
  return false;
}

/* Visit the files FOLDER/NAME.so; kind SCL_KINDS says that the kind is unknown. */
static bool list_loose(void *context, const char *folder, scl_plugin_origin origin) {
  list_files(context, SCL_KINDS, folder, origin);
  return false;
}

void scl_folders_each(scl_folders_visit visit, void *context) {
  walk w = {visit, context};
  (void)each_folder(list_kinds, &w);
}

void scl_folders_each_loose(scl_folders_visit visit, void *context) {
  walk w = {visit, context};
  (void)each_folder(list_loose, &w);
}
