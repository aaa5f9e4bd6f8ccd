/* Arrays of saved models to and from Lua (arrays.h). */
#include "lua/arrays.h"
#include "lua/list.h"

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

void scl_lua_push_array(lua_State *L, const scl_array *array) {
  size_t type = 0;
  while (type + 1 < TYPES && types[type].dtype != array->dtype)
    type++;
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

/* The product of the sizes is checked in floating point first, where it cannot overflow. */
scl_array scl_lua_check_array(lua_State *L, const char *name) {
  scl_array array = {0};
  size_t type = 0, bytes;
  const int place = lua_gettop(L);
  scl_lua_copy_table(L, place, name);
  lua_getfield(L, place, "dtype");
  lua_getfield(L, place, "shape");
  lua_getfield(L, place, "bytes");
  if (lua_type(L, place + 1) != LUA_TSTRING || lua_type(L, place + 3) != LUA_TSTRING)
    luaL_error(L, "array \"%s\" of the saved model has no dtype or no bytes", name);
  const char *dtype = lua_tostring(L, place + 1);
  array.data = lua_tolstring(L, place + 3, &bytes);
  const size_t rank = scl_lua_copy_list(L, place + 2, SCL_LUA_MOST, "shape");
  while (type < TYPES && strcmp(types[type].name, dtype) != 0)
    type++;
  if (type == TYPES || rank > 4)
    luaL_error(L, "array \"%s\" of the saved model has dtype %s and %d dimensions", name, dtype,
               (int)rank);
  array.dtype = types[type].dtype;
  array.rank = (uint32_t)rank;
  double count = 1;
  for (size_t i = 0; i < rank; i++) {
    array.sizes[i] = scl_lua_list_size(L, place + 2, i, 0, (size_t)1 << 53, "shape");
    count *= (double)array.sizes[i];
  }
  if (count >= 0x1p53 || scl_array_count(&array) * types[type].size != bytes)
    luaL_error(L, "array \"%s\" of the saved model has %d bytes, which is not its shape", name,
               (int)bytes);
  lua_settop(L, place);
  return array;
}
