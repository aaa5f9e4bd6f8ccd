/* scullery.core: files as whole texts, the entries of folders, modes and links: what Lua's own
 * library lacks. A path with a zero byte is refused, and a written file is complete or not
 * there. */
#define _GNU_SOURCE
#include "data/files/input.h"
#include "data/files/output.h"
#include "lua/call.h"
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------ texts */

/* A file that is being read or written. A userdata owns it, so that its __gc closes it after an
 * error. */
typedef struct held {
  scl_input *input;
  scl_output *output;
} held;

static int give_back(lua_State *L) {
  held *h = lua_touserdata(L, 1);
  if (h->input != NULL) scl_input_close(h->input);
  if (h->output != NULL) scl_output_abandon(h->output);
  *h = (held){0};
  return 0;
}

static held *new_held(lua_State *L) { return scl_lua_new_guarded(L, sizeof(held), give_back); }

/* core.read_text(path[, most]) -> the bytes of the file, unpacked if it is gzip; an error beyond
 * `most` bytes (1 GB by default) */
static int read_text(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  const size_t most = scl_lua_opt_size(L, 2, 0, SIZE_MAX >> 12, "most", (size_t)1 << 30);
  size_t taken = 0;
  held *h = new_held(L);
  SCL_LUA_TRY(L, scl_input_open(path, &h->input, &error));
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (size_t got = 1; got > 0;) {
    char *room = luaL_prepbuffer(&text);
    SCL_LUA_TRY(L, scl_input_read(h->input, room, LUAL_BUFFERSIZE, &got, &error));
    luaL_addsize(&text, got);
    taken += got;
    if (taken > most)
      return luaL_error(L, "%s: it holds more than %I bytes, which is too much for a text", path,
                        (LUAI_UACINT)most);
    scl_lua_check_interrupt(L);
  }
  luaL_pushresult(&text);
  scl_input_close(h->input);
  h->input = NULL;
  return 1;
}

/* core.read_head(path, most) -> the first bytes of the file, unpacked if it is gzip */
static int read_head(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  const size_t most = scl_lua_check_size(L, 2, 1, 1 << 20, "most");
  size_t got = 0;
  held *h = new_held(L);
  luaL_Buffer text;
  SCL_LUA_TRY(L, scl_input_open(path, &h->input, &error));
  char *room = luaL_buffinitsize(L, &text, most);
  SCL_LUA_TRY(L, scl_input_read(h->input, room, most, &got, &error));
  luaL_pushresultsize(&text, got);
  scl_input_close(h->input);
  h->input = NULL;
  return 1;
}

/* core.write_text(path, text[, mode]): whole or not at all; mode: the file's permission bits, those
 * of the umask too */
static int write_text(lua_State *L) {
  size_t length;
  const size_t mode = lua_isnil(L, 3) ? 0 : scl_lua_check_size(L, 3, 1, 0777, "mode");
  const char *path = scl_lua_check_path(L, 1), *text = luaL_checklstring(L, 2, &length);
  held *h = new_held(L);
  SCL_LUA_TRY(L, scl_output_open(path, &h->output, &error));
  if (mode != 0) scl_output_set_mode(h->output, (unsigned)mode);
  scl_output_write(h->output, text, length);
  scl_output *output = h->output;
  h->output = NULL; /* commit ends it, well or badly */
  SCL_LUA_TRY(L, scl_output_commit(output, &error));
  return 0;
}

/* ------------ folders */

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
    scl_lua_set_text(L, "name", file->d_name);
    struct stat about;
    const bool known = file->d_type != DT_LNK && file->d_type != DT_UNKNOWN;
    scl_lua_set_boolean(
        L, "folder",
        known ? file->d_type == DT_DIR /* otherwise a link, or the system cannot say */
              : fstatat(dirfd(*files), file->d_name, &about, 0) == 0 && S_ISDIR(about.st_mode));
    lua_rawseti(L, -2, ++count);
  }
  (void)closedir(*files);
  *files = NULL;
  return 1;
}

static int end_glob(lua_State *L) {
  globfree(lua_touserdata(L, 1));
  return 0;
}

/* core.glob(pattern) -> the paths that match a pattern with *, ? and [...], in no order; a folder
 * ends in / */
static int glob_paths(lua_State *L) {
  const char *pattern = scl_lua_check_path(L, 1);
  glob_t *found = scl_lua_new_guarded(L, sizeof *found, end_glob);
  const int status = glob(pattern, GLOB_NOSORT | GLOB_MARK, NULL, found);
  if (status != 0 && status != GLOB_NOMATCH)
    return luaL_error(L, "%s: the folders cannot be read", pattern);
  scl_lua_push_texts(L, (const char *const *)found->gl_pathv, status == 0 ? found->gl_pathc : 0);
  return 1;
}

/* core.real_path(path) -> the path from the root, without links; nil where nothing is there */
static int real_path(lua_State *L) {
  char real[PATH_MAX];
  if (realpath(scl_lua_check_path(L, 1), real) == NULL) return 0;
  return scl_lua_give_text(L, real);
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
  SCL_LUA_BOOLEANS(L, {"own", file.st_uid == 0 || file.st_uid == geteuid()},
                   {"folder", S_ISDIR(file.st_mode)});
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

SCL_LUA_CALLS(scl_lua_files_calls, {"read_text", read_text, 2}, {"read_head", read_head, 2},
              {"write_text", write_text, 3}, {"folder", folder, -1}, {"glob", glob_paths, -1},
              {"real_path", real_path, -1}, {"file_about", file_about, -1},
              {"set_mode", set_mode, -1}, {"link", make_link, -1});
