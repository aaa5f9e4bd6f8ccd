/* Folders of the library and its headers, from the path of the loaded library. */
#define _GNU_SOURCE
#include "base/installation.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool scl_own_folder(char folder[PATH_MAX]) {
  Dl_info info;
  if (dladdr((const void *)(uintptr_t)&scl_include_folder, &info) == 0 ||
      realpath(info.dli_fname, folder) == NULL)
    return false;
  char *slash = strrchr(folder, '/');
  if (slash == NULL) return false;
  *slash = 0;
  return true;
}

scl_status scl_include_folder(char folder[PATH_MAX], scl_error *error) {
  /* paths from the library to the headers, in a build tree and in an installation */
  static const char *const ways[] = {"include", SCULLERY_INCLUDE};
  char own[PATH_MAX], path[PATH_MAX + 64];
  if (!scl_own_folder(own))
    return scl_fail(error, SCL_STATUS_IO, "cannot find the folder of libscullery");
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    (void)snprintf(path, sizeof path, "%s/%s/scullery/plugin.h", own, ways[i]);
    if (access(path, R_OK) != 0) continue;
    path[strlen(path) - strlen("/scullery/plugin.h")] = 0;
    if (realpath(path, folder) != NULL) return SCL_STATUS_OK;
  }
  return scl_fail(error, SCL_STATUS_IO,
                  "the headers are not installed: %.900s/%s/scullery/plugin.h does not exist", own,
                  SCULLERY_INCLUDE);
}
