/* The Lua sparse matrix. */
#include "lua/sparse.h"

scl_csr *scl_lua_test_sparse(lua_State *L, int place) {
  scl_csr *a = luaL_testudata(L, place, SCL_LUA_SPARSE);
  return a == NULL || a->storage == NULL ? NULL : a;
}
