/* Engine objects as Lua userdata: one pointer, released when Lua collects it. */
#ifndef SCULLERY_HANDLE_H
#define SCULLERY_HANDLE_H

#include "learn/problem.h"
#include "lua/glue.h"
#include "plugin/instance.h"
#include "rows/flow.h"

#define SCL_LUA_INSTANCE "scullery.instance"
#define SCL_LUA_SOURCE "scullery.source"
#define SCL_LUA_STAGE "scullery.stage"
#define SCL_LUA_MAP "scullery.map"
#define SCL_LUA_MODEL "scullery.model"
#define SCL_LUA_TRAINING "scullery.training"

/* A userdata of type `name` on the stack whose pointer is still NULL: make it first, then fill
 * *pointer, so that nothing is lost on an error. `keep` Lua values may be tied to it with
 * lua_setiuservalue. */
void **scl_lua_new_handle(lua_State *L, const char *name, void (*release)(void *), int keep);
/* The pointer at `place`; an argument error where it is of another type or was released. */
void *scl_lua_check_handle(lua_State *L, int place, const char *name);
/* The field `key` of the table at `place` as a handle, NULL when it is absent. */
void *scl_lua_field_handle(lua_State *L, int place, const char *key, const char *name);

/* An instance of that kind; a sentence where it is of another. */
scl_instance *scl_lua_check_instance(lua_State *L, int place, scl_kind kind);

/* Handles as scl_lua_new_handle makes them, for a scl_model, a scl_stage, a scl_map and a scl_source,
 * which may keep one Lua value. */
void **scl_lua_new_model(lua_State *L);
void **scl_lua_new_stage(lua_State *L);
void **scl_lua_new_map(lua_State *L);
void **scl_lua_new_source(lua_State *L);

scl_source *scl_lua_check_source(lua_State *L, int place);
/* Before a walk: let a source that calls Lua know which state runs. */
void scl_lua_prepare_source(lua_State *L, scl_source *source);

/* A flow over the source at `source`, the list of stages at `stages` (0: none), the map at `map` (0
 * or nil: none). The array of stages is a userdata left on the stack. */
scl_flow scl_lua_flow(lua_State *L, int source, int stages, int map);

#endif
