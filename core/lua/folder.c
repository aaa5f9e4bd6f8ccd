/* scullery.core: what a folder holds, and where it is. */
#define _GNU_SOURCE
#include "lua/glue.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(DIR *folder, const struct dirent *entry) {
  struct stat file;
  if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) return entry->d_type == DT_DIR;
  return fstatat(dirfd(folder), entry->d_name, &file, 0) == 0 && S_ISDIR(file.st_mode);
}

static int close_folder(lua_State *L) {
  DIR **folder = lua_touserdata(L, 1);
  if (*folder != NULL) (void)closedir(*folder);
  *folder = NULL;
  return 0;
}

/* core.folder(path) -> a list of { name, folder = whether it is one }, without "." and ".."; nil
 * where it cannot be read */
static int folder(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  DIR **files = scl_lua_new_guarded(L, sizeof *files, close_folder);
  lua_Integer count = 0;
  *files = opendir(path);
  if (*files == NULL) return 0;
  lua_newtable(L);
  for (const struct dirent *file = readdir(*files); file != NULL; file = readdir(*files)) {
    if (strcmp(file->d_name, ".") == 0 || strcmp(file->d_name, "..") == 0) continue;
    lua_createtable(L, 0, 2);
    lua_pushstring(L, file->d_name);
    lua_setfield(L, -2, "name");
    scl_lua_set_boolean(L, "folder", is_folder(*files, file));
    lua_rawseti(L, -2, ++count);
  }
  (void)closedir(*files);
  *files = NULL;
  return 1;
}

/* core.real_path(path) -> the path from the root, without links; nil where nothing is there */
static int real_path(lua_State *L) {
  char real[PATH_MAX];
  if (realpath(scl_lua_check_path(L, 1), real) == NULL) return 0;
  lua_pushstring(L, real);
  return 1;
}

/* core.file_about(path) -> {size = bytes, mode = permission bits, user = the owner's number, own =
 * whether that is root or the user, folder = whether it is one}, of what a link leads to; nil where
 * nothing is there */
static int file_about(lua_State *L) {
  struct stat file;
  if (stat(scl_lua_check_path(L, 1), &file) != 0) return 0;
  lua_newtable(L);
  SCL_LUA_INTEGERS(L, {"size", (size_t)file.st_size}, {"mode", file.st_mode & 07777},
                   {"user", file.st_uid});
  scl_lua_set_boolean(L, "own", file.st_uid == 0 || file.st_uid == geteuid());
  scl_lua_set_boolean(L, "folder", S_ISDIR(file.st_mode));
  return 1;
}

/* core.set_mode(path, mode): the permission bits of a file */
static int set_mode(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  const size_t mode = scl_lua_check_size(L, 2, 0, 0777, "mode");
  if (chmod(path, (mode_t)mode) != 0)
    return luaL_error(L, "%s: its mode cannot be set: %s", path, strerror(errno));
  return 0;
}

/* core.link(target, path): a symbolic link at path, in the place of one that is there */
static int make_link(lua_State *L) {
  const char *target = scl_lua_check_path(L, 1), *path = scl_lua_check_path(L, 2);
  struct stat file;
  if (lstat(path, &file) == 0 && S_ISLNK(file.st_mode)) (void)unlink(path);
  if (symlink(target, path) != 0)
    return luaL_error(L, "%s: the link cannot be made: %s", path, strerror(errno));
  return 0;
}

void scl_lua_open_folder(lua_State *L) {
  SCL_LUA_FUNCTIONS(L, {"folder", folder}, {"real_path", real_path}, {"file_about", file_about},
                    {"set_mode", set_mode}, {"link", make_link});
}
