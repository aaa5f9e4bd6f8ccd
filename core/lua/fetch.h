/* Opened by core/lua/core.c with the rest. */
#ifndef SCULLERY_LUA_FETCH_H
#define SCULLERY_LUA_FETCH_H

#include "lua/glue.h"

void scl_lua_open_fetch(lua_State *L);

#endif
