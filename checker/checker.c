/* The Lua module scullery.checker: what checker/lua can do beyond scullery.core. */
#include "checker/checker.h"

int luaopen_scullery_checker(lua_State *L);

#define ADD_CALLS(name) scl_lua_set_calls(L, scl_checker_##name##_calls);

__attribute__((visibility("default"))) int luaopen_scullery_checker(lua_State *L) {
  lua_newtable(L);
  SCL_CHECKER_FILES(ADD_CALLS)
  return 1;
}
