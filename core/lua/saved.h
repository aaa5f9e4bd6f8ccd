/* Open files of saved models. */
#ifndef SCULLERY_LUA_SAVED_H
#define SCULLERY_LUA_SAVED_H

#include "lua/handle.h"
#include "model/saved.h"

const scl_saved *scl_lua_check_saved(lua_State *L, int place);

#endif
