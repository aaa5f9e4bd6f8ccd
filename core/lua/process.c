/* scullery.core: other programs (gnuplot, compilers, this command once more), and functions of Lua
 * in a child process, for code that may end the process. */
#define _GNU_SOURCE
#include "base/process.h"
#include "base/installation.h"
#include "lua/call.h"
#include "lua/list.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OUTPUT = 1 << 24 };

static int give_back(lua_State *L) {
  scl_process_output *out = lua_touserdata(L, 1);
  scl_release(out->bytes);
  out->bytes = NULL;
  return 0;
}

/* core.command() -> the path of the command `scullery`: this program, or the one beside the
 * library, of an installation or of the build tree; nil where there is none */
static int command(lua_State *L) {
  static const char *const places[] = {"/scullery", "/../bin/scullery", "/../../bin/scullery"};
  char path[PATH_MAX], folder[PATH_MAX];
  struct stat file;
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  path[size > 0 ? size : 0] = 0;
  const char *name = strrchr(path, '/');
  bool found = name != NULL && strcmp(name, "/scullery") == 0;
  const bool known = !found && scl_own_folder(folder);
  for (size_t i = 0; known && !found && i < sizeof places / sizeof *places; i++)
    found = snprintf(path, sizeof path, "%s%s", folder, places[i]) < PATH_MAX &&
            stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
  return scl_lua_give_text(L, found ? path : NULL);
}

/* core.run_program(words, seconds[, input[, most]]) -> { output, message (standard error), status,
 * signal = number and signal_name where one ended it, late = whether it took longer and was killed
 * } of the program words[1] with these arguments; nil where there is none of that name. With `most`
 * it is an error where it takes longer, writes more than `most` bytes or a signal ends it. */
static int run_program(lua_State *L) {
  enum { MOST_WORDS = 200 };
  const char *words[MOST_WORDS + 1] = {0};
  const size_t count = scl_lua_copy_list(L, 1, MOST_WORDS, "words");
  luaL_argcheck(L, count > 0, 1, "no words");
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    words[i] = luaL_checkstring(L, -1);
    lua_rawseti(L, 1, (lua_Integer)i + 1); /* keeps the text */
  }
  size_t size;
  const double seconds = luaL_checknumber(L, 2);
  const char *input = luaL_optlstring(L, 3, "", &size);
  const bool strict = !lua_isnil(L, 4);
  const size_t most = strict ? scl_lua_check_size(L, 4, 1, (size_t)1 << 40, "most") : MOST_OUTPUT;
  scl_process_output *out = scl_lua_new_guarded(L, sizeof *out, give_back);
  SCL_LUA_TRY(L, (strict ? scl_process_run : scl_process_watch)(words, input, size, seconds, most,
                                                                out, &error));
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

/* ------------ functions in a child process */

/* One character, + for a result and - for an error, then its text. */
static int answer_from_child(void *context, int to) {
  lua_State *L = context;
  const bool works = lua_pcall(L, 0, 1, 0) == LUA_OK;
  luaL_tolstring(L, -1, NULL);
  lua_pushstring(L, works ? "+" : "-");
  lua_insert(L, -2);
  lua_concat(L, 2);
  size_t size;
  for (const char *text = lua_tolstring(L, -1, &size); size > 0;) {
    const ssize_t written = write(to, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return 1;
    text += written;
    size -= (size_t)written;
  }
  return 0;
}

/* core.in_child(seconds, f) -> the text that f() returns, called in a child process whose output is
 * discarded. Otherwise nil, what happened, and how: "error" with f's message, "ended" with "ends
 * the process: ...", or "hangs". */
static int in_child(lua_State *L) {
  const size_t seconds = scl_lua_check_size(L, 1, 1, 86400, "seconds");
  luaL_checktype(L, 2, LUA_TFUNCTION);
  scl_process_output *out = scl_lua_new_guarded(L, sizeof *out, give_back);
  lua_pushvalue(L, 2);
  SCL_LUA_TRY(L, scl_process_fork(answer_from_child, L, (double)seconds, MOST_OUTPUT, out, &error));
  const bool answered = out->status == 0 && out->signal == 0 && !out->late && out->size > 0;
  if (answered && out->bytes[0] == '+') {
    lua_pushlstring(L, out->bytes + 1, out->size - 1);
    return 1;
  }
  lua_pushnil(L);
  if (out->late)
    lua_pushfstring(L, "did not end in %d s", (int)seconds);
  else if (answered)
    lua_pushlstring(L, out->bytes + 1, out->size - 1);
  else if (out->signal != 0)
    lua_pushfstring(L, "ends the process: %s (signal %d)", strsignal(out->signal), out->signal);
  else
    lua_pushfstring(L, "ends the process: exit(%d)", out->status);
  lua_pushstring(L, out->late ? "hangs" : answered ? "error" : "ended");
  return 3;
}

/* core.process() -> the number of this process */
static int process_number(lua_State *L) { return scl_lua_give_size(L, (size_t)getpid()); }

SCL_LUA_CALLS(scl_lua_process_calls, {"command", command, 0}, {"run_program", run_program, 4},
              {"in_child", in_child, 2}, {"process", process_number, 0});
