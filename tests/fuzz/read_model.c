/* Saved models and sums by sc.load, with a digest that fits: what loads has to predict or to be
 * solved, all else has to be refused with a sentence. */
#include "reader.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

int luaopen_scullery_core(lua_State *L);

/* The build's own Lua files, from build/tests/fuzz. */
static const char chunk[] =
    "local file = io.open('/proc/self/cmdline', 'rb')\n"
    "local build = file:read('a'):match('^(.-)/tests/fuzz/[^/]*%z')\n"
    "file:close()\n"
    "local share = build .. '/share/lua/5.4/'\n"
    "package.path = share .. '?.lua;' .. share .. '?/init.lua;' .. package.path\n"
    "local sc = require 'scullery'\n"
    "local faults = { 'attempt to', 'stack overflow', 'bad argument' }\n"
    "local function check(ok, message)\n"
    "  if ok then return end\n"
    "  for _, fault in ipairs(faults) do\n"
    "    if tostring(message):find(fault, 1, true) then error(message, 0) end\n"
    "  end\n"
    "end\n"
    "local function use(value)\n"
    "  tostring(value)\n"
    "  local sums = type(value) == 'table'\n"
    "    and (rawget(value, 'handle') and value or rawget(value, 'sums_kept'))\n"
    "  if sums then check(pcall(sums.solve, sums, { lambda = 1 })) end\n"
    "  local fitted = type(value) == 'table' and value.fitted\n"
    "  if not fitted then return end\n"
    "  local X = sc.zeros(3, fitted.dim)\n"
    "  check(pcall(value.solver and value.predict or value.transform, value, X))\n"
    "end\n"
    "return function(path)\n"
    "  local ok, value = pcall(sc.load, path)\n"
    "  check(ok, value)\n"
    "  if ok then check(pcall(use, value)) end\n"
    "end\n";

static lua_State *open_state(void) {
  lua_State *L = luaL_newstate();
  if (L == NULL) fuzz_fail("no memory");
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_scullery_core);
  lua_setfield(L, -2, "scullery.core");
  lua_pop(L, 1);
  if (luaL_dostring(L, chunk) != LUA_OK) fuzz_fail(lua_tostring(L, -1));
  fuzz_may_keep = true;
  return L;
}

void fuzz_read(const uint8_t *data, size_t size) {
  static lua_State *L; /* the function that loads is on top */
  if (L == NULL) L = open_state();
  char *bytes = fuzz_text(data, size);
  fuzz_sign(bytes, size);
  lua_pushvalue(L, -1);
  lua_pushstring(L, fuzz_file(0, (const uint8_t *)bytes, size, false));
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) fuzz_fail(lua_tostring(L, -1));
  free(bytes);
}
