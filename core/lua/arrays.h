/* Arrays of saved models as Lua tables: {dtype = "float64" | "float32" | "int32" | "int64", shape =
 * {sizes}, bytes = a string of the numbers in the byte order of this machine}. */
#ifndef SCULLERY_LUA_ARRAYS_H
#define SCULLERY_LUA_ARRAYS_H

#include "learn/archive.h"
#include "lua/glue.h"

/* The table on the stack. */
void scl_lua_push_array(lua_State *L, const scl_array *array);
/* An empty archive of named arrays, owned by a handle on the stack; and the table of its arrays by
 * name. */
scl_array_archive *scl_lua_new_archive(lua_State *L);
void scl_lua_push_archive(lua_State *L, const scl_array_archive *archive);
/* The table on top of the stack; sizes and bytes agree. The numbers point into the string,
 * which the table keeps alive. `name` is for sentences. */
scl_array scl_lua_check_array(lua_State *L, const char *name);

#endif
