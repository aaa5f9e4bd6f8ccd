/* scullery.core: the program that draws pictures. */
#include "base/process.h"
#include "lua/call.h"

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
  scl_error error = {0};
  scl_process_output *out = scl_lua_new_guarded(L, sizeof *out, give_back);
  scl_lua_check(L, scl_process_run(words, script, size, (double)seconds, most, out, &error),
                &error);
  if (out->absent) return 0;
  lua_pushlstring(L, out->bytes ? out->bytes : "", out->size);
  lua_pushstring(L, out->message);
  lua_pushinteger(L, out->status);
  return 3;
}

void scl_lua_open_process(lua_State *L) { SCL_LUA_CALLS(L, {"gnuplot", gnuplot, 3}); }
