/* The Lua sparse matrix: a userdata that holds a scl_csr. */
#ifndef SCULLERY_LUA_SPARSE_H
#define SCULLERY_LUA_SPARSE_H

#include "algebra/csr.h"
#include "lua/glue.h"

#define SCL_LUA_SPARSE "scullery.sparse"

/* The sparse matrix at `place`, or NULL: the value is none, or was released. */
scl_csr *scl_lua_test_sparse(lua_State *L, int place);

#endif
