/* Engine objects as Lua userdata: handles. An object is released when its handle was closed or
 * collected and no call and no other object uses it. */
#ifndef SCULLERY_HANDLE_H
#define SCULLERY_HANDLE_H

#include "learn/problem.h"
#include "lua/call.h"
#include "plugin/instance.h"
#include "rows/flow.h"

#define SCL_LUA_INSTANCE "scullery.instance"
#define SCL_LUA_SOURCE "scullery.source"
#define SCL_LUA_STAGE "scullery.stage"
#define SCL_LUA_STAGE_ARRAYS "scullery.stage_arrays"
#define SCL_LUA_MAP "scullery.map"
#define SCL_LUA_MODEL "scullery.model"
#define SCL_LUA_TRAINING "scullery.training"
#define SCL_LUA_SUMS "scullery.sums"
#define SCL_LUA_CHECKPOINT "scullery.checkpoint"
#define SCL_LUA_POSTERIOR "scullery.posterior"

/* A userdata of type `name` on the stack whose pointer is still NULL: make it first, then fill
 * *pointer, so that nothing is lost on an error. */
void **scl_lua_new_handle(lua_State *L, const char *name, void (*release)(void *));
/* A handle of `size` zeroed bytes, which release() ends and frees; raises where memory is short. */
void *scl_lua_new_owned(lua_State *L, const char *name, void (*release)(void *), size_t size);
/* A fresh handle on the stack, filled by a call that may fail: scl_status of (&made, &error). */
#define SCL_LUA_PUSH_HANDLE(L, slot_of, type, call) \
  do { \
    void **slot = slot_of; \
    type *made = NULL; \
    SCL_LUA_TRY(L, call); \
    *slot = made; \
  } while (0)
/* The value at `place`, a handle or any other value, is kept as long as the object of the handle at
 * `made`. Needed for everything that the object points to. */
void scl_lua_tie(lua_State *L, int made, int place);
/* The same for each of `count` elements of the list at `place`, a copy of the script's. */
void scl_lua_tie_list(lua_State *L, int made, int place, size_t count);

/* Work with the object of the handle at `place` may call functions of the script. */
void scl_lua_mark_script(lua_State *L, int place);

/* The pointer at `place`, which the running call uses until it ends (lua/call.h): raises if it has
 * another type, was released, or is being changed. */
void *scl_lua_check_handle(lua_State *L, int place, const char *name);
/* The same for a call that changes the object: other calls may not use it meanwhile. */
void *scl_lua_take_handle(lua_State *L, int place, const char *name);
/* The same as scl_lua_check_handle, but NULL for a value of another type. */
void *scl_lua_test_handle(lua_State *L, int place, const char *name);
/* The field `key` of the table at `place` as a handle, NULL when it is absent. */
void *scl_lua_field_handle(lua_State *L, int place, const char *key, const char *name);

/* An instance of that kind; raises for one of another kind. */
scl_instance *scl_lua_check_instance(lua_State *L, int place, scl_kind kind);

/* The component whose kind is at `place` and whose name is at `place + 1`. */
const scl_component *scl_lua_check_component(lua_State *L, int place);

/* The most rows of a block that a script may ask for. */
enum { SCL_LUA_BLOCK = 1 << 24 };

/* Handles as scl_lua_new_handle makes them, for a scl_model, a scl_fitted_stage, a scl_map and a
 * scl_source. */
void **scl_lua_new_model(lua_State *L);
void **scl_lua_new_stage(lua_State *L);
void **scl_lua_new_map(lua_State *L);
void **scl_lua_new_source(lua_State *L);

scl_source *scl_lua_check_source(lua_State *L, int place);
/* Pilot means of D features: 1 x D, float64, packed. The running call uses them until it ends. */
const scl_matrix *scl_lua_check_pilot(lua_State *L, int place, size_t features);
/* The fitted stages of the list at `place` (0 or nil: none), in a userdata left on the stack; the
 * list becomes a plain copy of itself. */
scl_fitted_stage **scl_lua_check_stages(lua_State *L, int place, size_t *count);
/* A flow over the source at `source`, the list of stages at `stages` (0: none), the map at `map` (0
 * or nil: none). The array of stages is a userdata left on the stack. */
scl_flow scl_lua_flow(lua_State *L, int source, int stages, int map);

#endif
