/* scullery.core: this process among several (processes/processes.h). */
#include "processes/processes.h"
#include "lua/glue.h"
#include "lua/options.h"

#include <string.h>

/* core.process_count() -> how many share the work, and the number of this one, from 0 */
static int process_count(lua_State *L) {
  return SCL_LUA_GIVE_SIZES(L, scl_processes_alone() ? 1 : scl_processes_count(),
                            scl_processes_rank());
}

/* core.process_alone(alone) -> what it was: whether the work that follows is this process's own */
static int process_alone(lua_State *L) {
  lua_pushboolean(L, scl_processes_alone());
  scl_processes_set_alone(lua_toboolean(L, 1));
  return 1;
}

/* core.process_hosts() -> a list of the names of their machines, and the transport or nil */
static int process_hosts(lua_State *L) {
  lua_newtable(L);
  for (size_t r = 0; r < scl_processes_count(); r++) {
    lua_pushstring(L, scl_processes_host(r));
    lua_rawseti(L, -2, (lua_Integer)r + 1);
  }
  lua_pushstring(L, scl_processes_transport());
  return 2;
}

/* core.process_exchanged() -> bytes that this process has exchanged, seconds, how many exchanges */
static int process_exchanged(lua_State *L) {
  lua_pushnumber(L, scl_processes_bytes());
  lua_pushnumber(L, scl_processes_seconds());
  lua_pushinteger(L, (lua_Integer)scl_processes_exchanges());
  return 3;
}

/* core.process_meet(what): wait until all processes are here; an error where they are elsewhere */
static int process_meet(lua_State *L) {
  SCL_LUA_TRY(L, scl_processes_meet(SCL_STATUS_OK, &error, "%s", luaL_checkstring(L, 1)));
  return 0;
}

/* *copy = the text of process 0, of `size` bytes. */
static scl_status receive(const char *what, const char *text, size_t size, char **copy,
                          scl_error *error) {
  *copy = scl_allocate(size + 1);
  const scl_status mine = *copy == NULL ? scl_fail_memory(error, size, what) : SCL_STATUS_OK;
  SCL_TRY(scl_processes_meet(mine, error, "%s: memory", what));
  if (scl_processes_rank() == 0) memcpy(*copy, text, size);
  return scl_processes_broadcast(0, *copy, size, error);
}

static int release_text(lua_State *L) {
  scl_release(*(char **)lua_touserdata(L, 1));
  return 0;
}

void scl_lua_share_text(lua_State *L, const char *what) {
  size_t length;
  const char *text = luaL_checklstring(L, -1, &length);
  if (scl_processes_count() == 1) return;
  int64_t size = (int64_t)length;
  char **copy = scl_lua_new_guarded(L, sizeof *copy, release_text);
  SCL_LUA_TRY(L, scl_processes_meet(SCL_STATUS_OK, &error, "%s", what));
  SCL_LUA_TRY(L, scl_processes_broadcast(0, &size, sizeof size, &error));
  SCL_LUA_TRY(L, receive(what, text, (size_t)size, copy, &error));
  lua_pushlstring(L, *copy, (size_t)size);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

/* core.process_share(what, text) -> the text of process 0, in all; others give any text */
static int process_share(lua_State *L) {
  lua_settop(L, 2);
  scl_lua_share_text(L, luaL_checkstring(L, 1));
  return 1;
}

SCL_LUA_CALLS(scl_lua_processes_calls, {"process_count", process_count, -1},
              {"process_alone", process_alone, -1}, {"process_hosts", process_hosts, -1},
              {"process_exchanged", process_exchanged, -1}, {"process_meet", process_meet, -1},
              {"process_share", process_share, -1});
