/* Check the environment variables at the start of the command: a mistake in one of them is reported
 * before any work begins. */
#define _POSIX_C_SOURCE 200809L
#include "base/environment.h"
#include "base/loops.h"
#include "base/numbers.h"
#include "base/pool.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The value of a variable; NULL if it is unset or empty. */
static const char *variable_value(const char *name) {
  const char *value = getenv(name);
  return value == NULL || *value == 0 ? NULL : value;
}

/* The three checks below accept NULL, an unset variable. */
static scl_status check_threads(const char *value, scl_error *error) {
  char *end;
  const long count = value == NULL ? 1 : strtol(value, &end, 10);
  if (value == NULL || (end != value && *end == 0 && count >= 1 && count <= SCL_POOL_MAX))
    return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_BAD_OPTION,
      "the environment variable SCULLERY_THREADS got \"%.60s\"; it takes a whole number "
      "from 1 to %d",
      value, SCL_POOL_MAX);
}

static scl_status check_progress(const char *value, scl_error *error) {
  char *end;
  const double seconds = value == NULL ? 0 : strtod(value, &end);
  if (value == NULL || (end != value && *end == 0 && seconds >= 0)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "the environment variable SCULLERY_PROGRESS got \"%.60s\"; it takes seconds "
                  "between two lines of progress in a file, or 0 for none",
                  value);
}

static scl_status check_isa(const char *value, scl_error *error) {
  char names[120] = "";
  size_t used = 0;
  if (value == NULL) return SCL_STATUS_OK;
  for (const scl_loops *const *table = scl_loops_all(); *table != NULL; table++) {
    if (strcmp((*table)->name, value) == 0) return SCL_STATUS_OK;
    used = scl_append(names, sizeof names, used, used > 0 ? ", " : "");
    used = scl_append(names, sizeof names, used, (*table)->name);
  }
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "the environment variable SCULLERY_ISA got \"%.60s\"; on this machine it takes "
                  "one of %s",
                  value, names);
}

/* A path of `length` characters must be a folder; an empty one is accepted. */
static scl_status check_folder(const char *name, const char *path, size_t length,
                               scl_error *error) {
  char folder[PATH_MAX];
  struct stat file;
  if (length == 0) return SCL_STATUS_OK;
  (void)snprintf(folder, sizeof folder, "%.*s", (int)scl_min(length, sizeof folder - 1), path);
  if (stat(folder, &file) == 0 && S_ISDIR(file.st_mode)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "the environment variable %s names \"%.200s\", which is not a folder", name,
                  folder);
}

/* A list of folders separated by colons. */
static scl_status check_folders(const char *name, const char *value, scl_error *error) {
  while (value != NULL && *value != 0) {
    const size_t length = strcspn(value, ":");
    SCL_TRY(check_folder(name, value, length, error));
    value += length + (value[length] == ':');
  }
  return SCL_STATUS_OK;
}

scl_status scl_environment_check(scl_error *error) {
  const char *data = variable_value("SCULLERY_DATA");
  SCL_TRY(check_threads(variable_value("SCULLERY_THREADS"), error));
  SCL_TRY(check_isa(variable_value("SCULLERY_ISA"), error));
  SCL_TRY(check_progress(variable_value("SCULLERY_PROGRESS"), error));
  SCL_TRY(check_folders("SCULLERY_PLUGIN_PATH", variable_value("SCULLERY_PLUGIN_PATH"), error));
  return check_folder("SCULLERY_DATA", data == NULL ? "" : data, data == NULL ? 0 : strlen(data),
                      error);
}

bool scl_environment_warn(char line[SCL_WARNING]) {
  const char *path = variable_value("SCULLERY_PLUGIN_PATH");
  for (size_t length; path != NULL; path = path[length] == ':' ? path + length + 1 : NULL) {
    length = strcspn(path, ":");
    if (length == 0) {
      (void)snprintf(line, SCL_WARNING,
                     "SCULLERY_PLUGIN_PATH has an empty entry, which is ignored");
      return true;
    }
    if (path[0] != '/') {
      (void)snprintf(line, SCL_WARNING,
                     "SCULLERY_PLUGIN_PATH names \"%.*s\", a path relative to the working folder: "
                     "which plugins are loaded depends on where a script is run; give full paths",
                     (int)scl_min(length, 200), path);
      return true;
    }
  }
  return false;
}
