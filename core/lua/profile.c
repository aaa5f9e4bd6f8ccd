/* scullery.core: seconds of each stage of the engine's work, for sc.profile
 * (lua/scullery/base/profile.lua). */
#include "base/profile.h"
#include "lua/glue.h"

/* A list of {name =, seconds =, rows =, passes =}: what is known so far. */
static int push_stages(lua_State *L) {
  size_t count;
  const scl_profile_stage *stages = scl_profile_stages(&count);
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_createtable(L, 0, 4);
    scl_lua_set_text(L, "name", stages[i].name);
    SCL_LUA_NUMBERS(L, {"seconds", stages[i].seconds}, {"rows", stages[i].rows},
                    {"passes", stages[i].passes});
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* core.profile_start() -> the stages up to now: of a profile within another one, what it began
 * with */
static int profile_start(lua_State *L) {
  scl_profile_start();
  return push_stages(L);
}

/* core.profile_stop() -> the stages up to now */
static int profile_stop(lua_State *L) {
  scl_profile_stop();
  return push_stages(L);
}

SCL_LUA_CALLS(scl_lua_profile_calls, {"profile_start", profile_start, -1},
              {"profile_stop", profile_stop, -1});
