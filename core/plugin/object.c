#define _GNU_SOURCE
#include "plugin/object.h"

#include "plugin/elf.h"
#include "plugin/surroundings.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Who may alter code that the search finds by itself: root and the user. */
static scl_status refuse_open(const char *path, const char *who, const char *what,
                              const char *which, bool by_name, scl_error *error) {
  const bool all = which[0] == 'o';
  return scl_fail(error, SCL_STATUS_IO,
                  "plugin %s: refused, because %s may write %s (chmod %s-w makes it acceptable%s)",
                  path, who, what, which,
                  by_name || all ? "" : ", and sc.plugin.load(path) takes it as it is");
}

/* Root and the user alone may write to it. A file that is asked for by its path may be written by a
 * group, and lie in a folder that all may write to and has the sticky bit (/tmp), where nobody can
 * replace another user's file. */
static scl_status check_writers(const char *path, mode_t file, const char *what, bool by_name,
                                scl_error *error) {
  const bool sticky = S_ISDIR(file) && (file & S_ISVTX) != 0;
  if (file & S_IWOTH && !sticky) return refuse_open(path, "every user", what, "o", by_name, error);
  if (by_name) return SCL_STATUS_OK;
  if (file & S_IWOTH)
    return scl_fail(
        error, SCL_STATUS_IO,
        "plugin %s: refused, because every user may write to %s, where the search takes "
        "nothing (sc.plugin.load(path) takes it)",
        path, what);
  if (file & S_IWGRP && !sticky) return refuse_open(path, "a group", what, "g", by_name, error);
  return SCL_STATUS_OK;
}

static scl_status check_folder(const char *real, bool by_name, scl_error *error) {
  char folder[PATH_MAX], what[PATH_MAX + 16];
  struct stat about;
  (void)snprintf(folder, sizeof folder, "%s", real);
  char *slash = strrchr(folder, '/');
  slash[slash == folder] = 0;
  if (stat(folder, &about) != 0)
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: its folder cannot be looked at", real);
  (void)snprintf(what, sizeof what, "its folder %s", folder);
  return check_writers(real, about.st_mode, what, by_name, error);
}

scl_status scl_object_find(const char *path, char real[PATH_MAX], scl_identity *identity,
                           scl_error *error) {
  struct stat file;
  if (stat(path, &file) != 0)
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: no such file", path);
  if (S_ISDIR(file.st_mode))
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: this is a folder; give the .so file", path);
  if (!S_ISREG(file.st_mode))
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: this is no plain file", path);
  if (realpath(path, real) == NULL)
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: cannot be reached", path);
  *identity = (scl_identity){file.st_dev, file.st_ino, file.st_size, file.st_mtim};
  return SCL_STATUS_OK;
}

scl_status scl_object_check(const char *real, bool by_name, scl_error *error) {
  struct stat file;
  if (stat(real, &file) != 0)
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: no such file", real);
  if (file.st_uid != 0 && file.st_uid != geteuid())
    return scl_fail(error, SCL_STATUS_IO,
                    "plugin %s: refused, because it belongs to another user (uid %lu)", real,
                    (unsigned long)file.st_uid);
  SCL_TRY(check_writers(real, file.st_mode, "this file", by_name, error));
  return check_folder(real, by_name, error);
}

/* ------------------------------------------------------------ opening */

void scl_object_enter(scl_call *call, scl_component *unnamed, const char *real, const char *doing) {
  *unnamed = (scl_component){.path = real};
  scl_call_enter(call, unnamed, doing, NULL);
}

/* The loader knows objects by path and would give the old one: the bytes get a path of their own,
 * in memory, which stays open as long as the process. */
static void *open_copy(const char *real) {
  char text[64], buffer[1 << 16];
  const int from = open(real, O_RDONLY | O_CLOEXEC), to = memfd_create("plugin", MFD_CLOEXEC);
  ssize_t got = from < 0 || to < 0 ? -1 : 1;
  while (got > 0 && (got = read(from, buffer, sizeof buffer)) > 0)
    for (ssize_t put = 0, wrote; put < got; put += wrote)
      if ((wrote = write(to, buffer + put, (size_t)(got - put))) <= 0) {
        got = -1;
        break;
      }
  if (from >= 0) (void)close(from);
  (void)snprintf(text, 64, "/proc/self/fd/%d", to);
  void *handle = got < 0 ? NULL : dlopen(text, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL && to >= 0) (void)close(to);
  return handle;
}

static void *open_object(const char *real, bool again) {
  scl_component unnamed;
  scl_call call;
  /* One that was refused may have stayed (C++ objects do). */
  void *stayed = again ? NULL : dlopen(real, RTLD_NOW | RTLD_NOLOAD);
  scl_object_enter(&call, &unnamed, real, "what runs when the object is opened");
  void *handle = again || stayed != NULL ? open_copy(real) : dlopen(real, RTLD_NOW | RTLD_LOCAL);
  scl_call_drop(&call);
  if (stayed != NULL) (void)dlclose(stayed);
  return handle;
}

/* The list symbol, or the single one as a list. */
static scl_status find_plugins(void *handle, const char *real, const scl_plugin *const **plugins,
                               size_t *count, scl_error *error) {
  const scl_plugin *one = dlsym(handle, "scullery_plugin");
  const scl_plugin_list *list = dlsym(handle, "scullery_plugins");
  if ((one == NULL) == (list == NULL))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    one == NULL ? "plugin %s: it has no symbol 'scullery_plugin' nor "
                                  "'scullery_plugins', so it is no Scullery plugin"
                                : "plugin %s: it has both symbols, 'scullery_plugin' and "
                                  "'scullery_plugins', where one is taken",
                    real);
  if (list != NULL && (list->head.abi != SCL_ABI || list->head.size < SCL_LEAST_PLUGIN_LIST ||
                       list->count == 0 || list->count > 1000 || list->plugins == NULL))
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "plugin %s: its list of plugins is of another interface (%u, %u bytes) or empty", real,
        list->head.abi, list->head.size);
  *count = list == NULL ? 1 : list->count;
  const scl_plugin **found = scl_allocate_array(*count, sizeof *found);
  if (found == NULL) return scl_fail_memory(error, *count * sizeof *found, "a plugin");
  for (size_t i = 0; i < *count; i++)
    found[i] = list == NULL ? one : list->plugins[i];
  *plugins = found;
  return SCL_STATUS_OK;
}

/* A sentence where opening the object changed what belongs to the whole process. */
static scl_status refuse_changes(const char *real, bool mode, const char *others,
                                 scl_error *error) {
  if (mode)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: loading it changes the floating-point mode of the whole "
                    "process, as objects linked with -ffast-math do: build it without",
                    real);
  if (others[0] != 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: loading it changes %s; these belong to the whole process, and were "
                    "put back: a plugin leaves them as they are",
                    real, others);
  return SCL_STATUS_OK;
}

static scl_status open_watched(const char *real, bool again, void **handle, scl_error *error) {
  const unsigned mode = scl_float_mode();
  scl_surroundings *noted = NULL;
  char changed[400] = "";
  SCL_TRY(scl_surroundings_note(&noted, error));
  *handle = open_object(real, again);
  const char *why = *handle == NULL ? dlerror() : NULL;
  const bool other_mode = scl_float_mode() != mode;
  if (other_mode) scl_float_mode_restore(mode);
  scl_status status = SCL_STATUS_OK;
  if (*handle == NULL)
    status = scl_fail(error, SCL_STATUS_UNSUPPORTED, "plugin %s: not a loadable shared object: %s",
                      real, why == NULL ? "it cannot be read" : why);
  (void)scl_surroundings_restore(noted, changed, sizeof changed);
  return status == SCL_STATUS_OK ? refuse_changes(real, other_mode, changed, error) : status;
}

scl_status scl_object_open(const char *real, bool again, const scl_plugin *const **plugins,
                           size_t *count, void **handle, scl_error *error) {
  scl_component unnamed;
  scl_call call;
  *plugins = NULL;
  *handle = NULL;
  SCL_TRY(scl_elf_check(real, error));
  scl_status status = open_watched(real, again, handle, error);
  if (status == SCL_STATUS_OK) {
    scl_object_enter(&call, &unnamed, real, "the reading of its descriptor");
    status = find_plugins(*handle, real, plugins, count, error);
    scl_call_drop(&call);
  }
  if (status != SCL_STATUS_OK) scl_object_close(*handle, real, NULL);
  return status;
}

void scl_object_close(void *handle, const char *real, const scl_plugin *const *plugins) {
  char changed[400];
  scl_component unnamed;
  scl_call call;
  scl_surroundings *noted = NULL;
  scl_release((void *)(uintptr_t)plugins);
  if (handle == NULL) return;
  (void)scl_surroundings_note(&noted, NULL);
  scl_object_enter(&call, &unnamed, real, "what runs when the object is closed");
  (void)dlclose(handle);
  scl_call_drop(&call);
  (void)scl_surroundings_restore(noted, changed, sizeof changed);
}
