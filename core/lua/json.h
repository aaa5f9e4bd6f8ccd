/* JSON texts as Lua values. */
#ifndef SCULLERY_LUA_JSON_H
#define SCULLERY_LUA_JSON_H

#include "data/json.h"
#include "lua/glue.h"

/* Called for each object, whose table is on top of the stack. */
typedef void (*scl_lua_json_visit)(lua_State *L, void *context, const cJSON *object);
/* Push the value as core.json_decode gives it. visit may be NULL. */
void scl_lua_push_json(lua_State *L, const scl_json *json, const cJSON *value,
                       scl_lua_json_visit visit, void *context);

#endif
