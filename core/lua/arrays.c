#include "lua/arrays.h"

#include "learn/archive.h"
#include <string.h>

/* Types of arrays, by their name in a saved model, and bytes of a number. */
static const struct {
  const char *name;
  scl_dtype dtype;
  size_t size;
} types[] = {{"float64", SCL_DTYPE_FLOAT64, 8},
             {"float32", SCL_DTYPE_FLOAT32, 4},
             {"int32", SCL_DTYPE_INT32, 4},
             {"int64", SCL_DTYPE_INT64, 8}};
enum { TYPES = sizeof types / sizeof *types };

static size_t type_of(scl_dtype dtype) {
  size_t i = 0;
  while (i + 1 < TYPES && types[i].dtype != dtype)
    i++;
  return i;
}

void scl_lua_push_array(lua_State *L, const scl_array *array) {
  const size_t type = type_of(array->dtype);
  lua_newtable(L);
  scl_lua_set_text(L, "dtype", types[type].name);
  lua_newtable(L);
  for (uint32_t i = 0; i < array->rank; i++) {
    lua_pushinteger(L, (lua_Integer)array->sizes[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "shape");
  lua_pushlstring(L, array->data, scl_array_count(array) * types[type].size);
  lua_setfield(L, -2, "bytes");
}

scl_array scl_lua_check_array(lua_State *L, const char *name) {
  scl_array array = {0};
  size_t type = 0, bytes;
  const int place = lua_gettop(L);
  luaL_checktype(L, place, LUA_TTABLE);
  lua_getfield(L, place, "dtype");
  lua_getfield(L, place, "shape");
  lua_getfield(L, place, "bytes");
  const char *dtype = luaL_checkstring(L, place + 1);
  luaL_checktype(L, place + 2, LUA_TTABLE);
  array.data = luaL_checklstring(L, place + 3, &bytes);
  while (type < TYPES && strcmp(types[type].name, dtype) != 0)
    type++;
  const size_t rank = (size_t)luaL_len(L, place + 2);
  if (type == TYPES || rank > 4)
    luaL_error(L, "array \"%s\" of the saved model has dtype %s and %d dimensions", name, dtype,
               (int)rank);
  array.dtype = types[type].dtype;
  array.rank = (uint32_t)rank;
  for (size_t i = 0; i < rank; i++) {
    lua_geti(L, place + 2, (lua_Integer)i + 1);
    array.sizes[i] = scl_lua_check_size(L, lua_gettop(L), 0, (size_t)1 << 53, "shape");
    lua_pop(L, 1);
  }
  if (scl_array_count(&array) * types[type].size != bytes)
    luaL_error(L, "array \"%s\" of the saved model has %d bytes, which is not its shape", name,
               (int)bytes);
  lua_settop(L, place);
  return array;
}
