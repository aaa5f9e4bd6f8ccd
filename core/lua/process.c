/* scullery.core: other programs: what draws pictures, compilers, this command once more. */
#define _GNU_SOURCE
#include "base/process.h"
#include "lua/call.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int give_back(lua_State *L) {
  scl_process_output *out = lua_touserdata(L, 1);
  scl_release(out->bytes);
  out->bytes = NULL;
  return 0;
}

/* core.gnuplot(script, seconds, most) -> what gnuplot wrote to standard output, its message, its
 * exit status; nil where there is no gnuplot. It reads no settings of the user's. An error where it
 * takes longer than `seconds` or writes more than `most` bytes. */
static int gnuplot(lua_State *L) {
  static const char *const words[] = {"gnuplot", "--default-settings", NULL};
  size_t size;
  const char *script = luaL_checklstring(L, 1, &size);
  const size_t seconds = scl_lua_check_size(L, 2, 1, 86400, "seconds");
  const size_t most = scl_lua_check_size(L, 3, 1, (size_t)1 << 40, "most");
  scl_process_output *out = scl_lua_new_guarded(L, sizeof *out, give_back);
  SCL_LUA_TRY(L, scl_process_run(words, script, size, (double)seconds, most, out, &error));
  if (out->absent) return 0;
  lua_pushlstring(L, out->bytes ? out->bytes : "", out->size);
  lua_pushstring(L, out->message);
  lua_pushinteger(L, out->status);
  return 3;
}

static bool is_program(const char *path) {
  struct stat file;
  return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

/* The command beside the library: bin/scullery of the installation, or of the build tree. */
static bool command_beside_library(char path[PATH_MAX]) {
  static const char *const places[] = {"/scullery", "/../bin/scullery", "/../../bin/scullery"};
  Dl_info info;
  char folder[PATH_MAX];
  if (dladdr((void *)(uintptr_t)scl_process_watch, &info) == 0 || info.dli_fname == NULL ||
      realpath(info.dli_fname, folder) == NULL)
    return false;
  *strrchr(folder, '/') = '\0';
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (snprintf(path, PATH_MAX, "%s%s", folder, places[i]) < PATH_MAX && is_program(path))
      return true;
  return false;
}

/* core.command() -> the path of the command `scullery`: this program, or the one beside the
 * library; nil where there is none */
static int command(lua_State *L) {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  if (size > 0) {
    path[size] = '\0';
    const char *name = strrchr(path, '/');
    if (name != NULL && strcmp(name, "/scullery") == 0) {
      lua_pushstring(L, path);
      return 1;
    }
  }
  if (!command_beside_library(path)) return 0;
  lua_pushstring(L, path);
  return 1;
}

/* core.run_program(words, seconds[, input]) -> { output, message (standard error), status, signal = number and
 * signal_name where one ended it, late = whether it took longer and was killed } of the program
 * words[1] with these arguments; nil where there is none of that name */
static int run_program(lua_State *L) {
  enum { MOST_WORDS = 200, MOST_OUTPUT = 1 << 24 };
  const char *words[MOST_WORDS + 1] = {0};
  luaL_checktype(L, 1, LUA_TTABLE);
  const lua_Integer count = luaL_len(L, 1);
  luaL_argcheck(L, count > 0 && count <= MOST_WORDS, 1, "too many words");
  luaL_checkstack(L, (int)count, NULL);
  for (lua_Integer i = 0; i < count; i++) {
    lua_rawgeti(L, 1, i + 1); /* stays on the stack, and with it the text */
    words[i] = luaL_checkstring(L, -1);
  }
  size_t size;
  const double seconds = luaL_checknumber(L, 2);
  const char *input = luaL_optlstring(L, 3, "", &size);
  scl_process_output *out = scl_lua_new_guarded(L, sizeof *out, give_back);
  SCL_LUA_TRY(L, scl_process_watch(words, input, size, seconds, MOST_OUTPUT, out, &error));
  if (out->absent) return 0;
  lua_newtable(L);
  lua_pushlstring(L, out->bytes ? out->bytes : "", out->size);
  lua_setfield(L, -2, "output");
  scl_lua_set_text(L, "message", out->message);
  scl_lua_set_integer(L, "status", (size_t)out->status);
  scl_lua_set_boolean(L, "late", out->late);
  if (out->signal != 0 && !out->late) {
    scl_lua_set_integer(L, "signal", (size_t)out->signal);
    scl_lua_set_text(L, "signal_name", strsignal(out->signal));
  }
  return 1;
}

void scl_lua_open_process(lua_State *L) {
  SCL_LUA_CALLS(L, {"gnuplot", gnuplot, 3}, {"command", command, 0},
                {"run_program", run_program, 3});
}
