/* Loading models from Lua values. */
#ifndef SCULLERY_LUA_MODEL_H
#define SCULLERY_LUA_MODEL_H

#include "learn/model.h"
#include "lua/handle.h"

typedef scl_status (*scl_lua_loader)(scl_instance *solver, const scl_array_archive *archive,
                                     size_t features, size_t targets, scl_dtype dtype,
                                     scl_model **out, scl_error *error);
/* solver, what core.model_save gave -> model */
int scl_lua_load_model(lua_State *L, scl_lua_loader loader);

#endif
