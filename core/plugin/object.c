/* Shared objects of plugins: found, checked for who may write to them, opened with the process's
 * state restored afterwards, and closed. */
#define _GNU_SOURCE
#include "plugin/object.h"

#include "plugin/elf.h"
#include "plugin/host.h"
#include "plugin/surroundings.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Refuse a file that others may write to. which: "o" or "g", as chmod calls them. by_name: the user
 * gave the path to sc.plugin.load, so that it is not suggested. */
static scl_status refuse_open(const char *path, const char *who, const char *what,
                              const char *which, bool by_name, scl_error *error) {
  const bool all = which[0] == 'o';
  return scl_fail(error, SCL_STATUS_IO,
                  "plugin %s: refused, because %s may write %s (chmod %s-w makes it acceptable%s)",
                  path, who, what, which,
                  by_name || all ? "" : ", and sc.plugin.load(path) takes it as it is");
}

/* Only root and the user may write to it. A file that is asked for by its path may also be writable
 * for a group, and be in a folder that all may write to and that has the sticky bit (/tmp), where
 * nobody can replace another user's file. */
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

/* The same check for the folder of the file, whose writers can replace the file. */
static scl_status check_folder(const char *real, bool by_name, scl_error *error) {
  char folder[PATH_MAX], what[PATH_MAX + 16];
  struct stat about;
  (void)snprintf(folder, sizeof folder, "%s", real);
  char *slash = strrchr(folder, '/');
  slash[slash == folder] = 0; /* keeps the slash of "/" itself */
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
    return scl_fail(error, SCL_STATUS_IO, "plugin %s: this is not a plain file", path);
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

/* ------------ opening */

void scl_object_enter(scl_call *call, scl_component *unnamed, const char *real, const char *doing) {
  *unnamed = (scl_component){.path = real};
  scl_call_enter(call, unnamed, doing, NULL);
}

/* Open a copy of a changed file. The loader identifies objects by path and would return the old
 * one, so the bytes are copied to a file in memory, which has another path. Its descriptor stays
 * open as long as the process. */
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

/* dlopen, as a call of the unnamed component, so that a crash in a constructor is reported with the
 * file. NULL: dlerror says why. */
static void *open_object(const char *real, bool again) {
  scl_component unnamed;
  scl_call call;
  /* An object that was refused and closed may still be loaded, as C++ objects with unique symbols
   * are: dlopen would return the old one. */
  void *stayed = again ? NULL : dlopen(real, RTLD_NOW | RTLD_NOLOAD);
  scl_object_enter(&call, &unnamed, real, "what runs when the object is opened");
  void *handle = again || stayed != NULL ? open_copy(real) : dlopen(real, RTLD_NOW | RTLD_LOCAL);
  scl_call_drop(&call);
  if (stayed != NULL) (void)dlclose(stayed);
  return handle;
}

/* A list of 1 to 1,000 plugins of this interface. */
static scl_status check_list(const scl_plugin_list *list, const char *real, scl_error *error) {
  if (list != NULL && list->head.abi == SCL_ABI && list->head.size >= SCL_LEAST_PLUGIN_LIST &&
      list->count > 0 && list->count <= 1000 && list->plugins != NULL)
    return SCL_STATUS_OK;
  if (list == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: slot 'get' of its scullery_entry gave no list", real);
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "plugin %s: its list of plugins is of another interface (%u, %u bytes) or empty",
                  real, list->head.abi, list->head.size);
}

/* Whether a descriptor is valid as far as its kind, which a later version has. */
static bool is_of_later_kind(const scl_plugin *plugin) {
  return plugin != NULL && plugin->head.abi == SCL_ABI && plugin->head.size >= SCL_LEAST_PLUGIN &&
         plugin->kind >= SCL_KINDS && scl_is_name(plugin->name, false);
}

/* Set o->plugins and o->count from the one way in which the object offers its plugins: the entry's
 * slot get, the symbol scullery_plugins (a list) or scullery_plugin (a single one). What a list has
 * of later kinds is left out, with a line. */
static scl_status find_plugins(scl_object *o, const char *real, scl_error *error) {
  const scl_plugin *one = dlsym(o->handle, "scullery_plugin");
  const scl_plugin_list *list = dlsym(o->handle, "scullery_plugins");
  const bool makes = o->entry != NULL && o->entry->get != NULL;
  const int ways = (one != NULL) + (list != NULL) + makes;
  if (ways != 1)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    ways == 0 ? "plugin %s: it has no symbol 'scullery_plugin' nor "
                                "'scullery_plugins', so it is not a Scullery plugin"
                    : makes
                        ? "plugin %s: its scullery_entry has a slot 'get', and it has the symbol "
                          "'scullery_plugin' or 'scullery_plugins' too, where one is taken"
                        : "plugin %s: it has both symbols, 'scullery_plugin' and "
                          "'scullery_plugins', where one is taken",
                    real);
  if (makes) list = o->entry->get();
  if (one == NULL) SCL_TRY(check_list(list, real, error));
  const size_t count = one != NULL ? 1 : list->count;
  const scl_plugin **found = scl_allocate_array(count, sizeof *found);
  if (found == NULL) return scl_fail_memory(error, count * sizeof *found, "a plugin");
  for (size_t i = 0; i < count; i++) {
    const scl_plugin *plugin = one != NULL ? one : list->plugins[i];
    if (one == NULL && count > 1 && is_of_later_kind(plugin))
      scl_host_get()->log(NULL,
                          "%s: '%s' is left out: it is of kind %d, which this Scullery "
                          "does not know",
                          real, plugin->name, (int)plugin->kind);
    else
      found[o->count++] = plugin;
  }
  o->plugins = found;
  if (o->count > 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "plugin %s: all of its %zu plugins are of kinds that this Scullery does not know",
                  real, count);
}

/* ------------ the entry (plugin/entry.h) */

/* Check the entry and call its slot init. `kept`: the path, which outlives the object. */
static scl_status run_init(const scl_entry *entry, const char *kept, scl_error *error) {
  scl_component unnamed;
  scl_call call;
  scl_error failure = {0};
  if (entry->head.abi != SCL_ABI || entry->head.size < SCL_LEAST_ENTRY)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: its scullery_entry is of another interface (%u, %u bytes)", kept,
                    entry->head.abi, entry->head.size);
  if (entry->init == NULL) return SCL_STATUS_OK;
  scl_object_enter(&call, &unnamed, kept, "init of its scullery_entry");
  const scl_status status = entry->init(scl_host_get(), kept, &failure);
  scl_call_drop(&call);
  if (status == SCL_STATUS_OK) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED, "plugin %s: init failed: %s", kept,
                  failure.message[0] == 0 ? "it gave no sentence" : failure.message);
}

void scl_object_deinit(const scl_entry *entry, const char *real) {
  scl_component unnamed;
  scl_call call;
  if (entry == NULL || entry->deinit == NULL) return;
  scl_object_enter(&call, &unnamed, real, "deinit of its scullery_entry");
  entry->deinit();
  scl_call_drop(&call);
}

/* Open the object and call init of its entry. The process's state is noted before and restored
 * after; a plugin that changed it is refused. out->entry is set once init has succeeded, so that
 * deinit is due. */
static scl_status open_watched(const char *real, const char *kept, bool again, scl_object *out,
                               scl_error *error) {
  const unsigned mode = scl_float_mode();
  scl_surroundings *noted = NULL;
  char changed[400] = "";
  SCL_TRY(scl_surroundings_note(&noted, error));
  out->handle = open_object(real, again);
  const char *why = out->handle == NULL ? dlerror() : NULL;
  const scl_entry *entry = out->handle == NULL ? NULL : dlsym(out->handle, "scullery_entry");
  scl_status status = SCL_STATUS_OK;
  if (out->handle == NULL)
    status = scl_fail(error, SCL_STATUS_UNSUPPORTED, "plugin %s: not a loadable shared object: %s",
                      real, why == NULL ? "it cannot be read" : why);
  else if (entry != NULL)
    status = run_init(entry, kept, error);
  if (status == SCL_STATUS_OK) out->entry = entry;
  const bool other_mode = scl_float_mode() != mode;
  if (other_mode) scl_float_mode_restore(mode);
  (void)scl_surroundings_restore(noted, changed, sizeof changed);
  if (status == SCL_STATUS_OK && other_mode)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: loading it changes the floating-point mode of the whole "
                    "process, as objects linked with -ffast-math do: build it without",
                    real);
  if (status == SCL_STATUS_OK && changed[0] != 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "plugin %s: loading it changes %s; these belong to the whole process, and were "
                    "put back: a plugin leaves them as they are",
                    real, changed);
  return status;
}

scl_status scl_object_open(const char *real, const char *kept, bool again, scl_object *out,
                           scl_error *error) {
  scl_component unnamed;
  scl_call call;
  *out = (scl_object){0};
  SCL_TRY(scl_elf_check(real, error));
  scl_status status = open_watched(real, kept, again, out, error);
  if (status == SCL_STATUS_OK) {
    scl_object_enter(&call, &unnamed, real, "the reading of its descriptor");
    status = find_plugins(out, real, error);
    scl_call_drop(&call);
  }
  if (status != SCL_STATUS_OK) scl_object_close(out, real);
  return status;
}

void scl_object_keep(scl_object *object) {
  scl_release((void *)(uintptr_t)object->plugins);
  object->plugins = NULL;
}

void scl_object_close(scl_object *object, const char *real) {
  char changed[400];
  scl_component unnamed;
  scl_call call;
  scl_surroundings *noted = NULL;
  scl_object_keep(object);
  if (object->handle == NULL) return;
  (void)scl_surroundings_note(&noted, NULL);
  scl_object_deinit(object->entry, real);
  scl_object_enter(&call, &unnamed, real, "what runs when the object is closed");
  (void)dlclose(object->handle);
  scl_call_drop(&call);
  (void)scl_surroundings_restore(noted, changed, sizeof changed);
}
