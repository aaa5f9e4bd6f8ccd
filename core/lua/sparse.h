/* Sparse matrices in Lua: a userdata over a scl_csr (algebra/csr.h), which no method changes. */
#ifndef SCULLERY_LUA_SPARSE_H
#define SCULLERY_LUA_SPARSE_H

#include "algebra/csr.h"
#include "lua/matrix.h"

#define SCL_LUA_SPARSE "scullery.sparse"
extern const scl_lua_class scl_lua_sparse_class;

/* The most columns: the number of a column, from 0, is an int32. */
#define SCL_LUA_SPARSE_COLS ((size_t)1 << 31)
/* The most rows, and the most numbers. */
#define SCL_LUA_SPARSE_MOST ((size_t)1 << 62)

/* An empty sparse matrix on the stack, to be filled: make it first, compute into it afterwards, and
 * an error frees nothing by hand. */
scl_csr *scl_lua_new_csr(lua_State *L);
/* The sparse matrix at `place`, or an argument error. The pointer is valid as long as the Lua
 * value. */
scl_csr *scl_lua_check_csr(lua_State *L, int place);
/* The same, NULL if the value is not a sparse matrix or was released. */
scl_csr *scl_lua_test_csr(lua_State *L, int place);
/* As scl_lua_hold_matrix of lua/call.h: the running call keeps a reference to the storage. */
const scl_csr *scl_lua_hold_csr(lua_State *L, int place);
/* Raise where `a` was released since it was checked, as scl_lua_check_held. */
void scl_lua_check_held_csr(lua_State *L, const scl_csr *a);
/* Raise, with `what` ("astype: the number") in front, if a number of a new matrix is not finite. */
void scl_lua_check_finite_csr(lua_State *L, const scl_csr *a, const char *what);
/* The matrix becomes Lua's, in the field `key` of the table on top of the stack, and *from empty. */
void scl_lua_set_csr(lua_State *L, const char *key, scl_csr *from);

/* A fresh sparse matrix, filled by a call that may fail: scl_status of (out, &error). */
#define SCL_LUA_PUSH_CSR(L, call) \
  do { \
    scl_csr *out = scl_lua_new_csr(L); \
    SCL_LUA_TRY(L, call); \
    scl_lua_account(L, scl_csr_bytes(out)); \
  } while (0)

/* The same from `a`, a sparse matrix of a script, which is checked again. */
#define SCL_LUA_DERIVE_CSR(L, a, call) \
  do { \
    scl_csr *out = scl_lua_new_csr(L); \
    scl_lua_check_held_csr(L, a); \
    SCL_LUA_TRY(L, call); \
    scl_lua_account(L, scl_csr_bytes(out)); \
  } while (0)

/* Whether the values at places 1 and 2, of which one is sparse and the other any matrix, have the
 * same shape and numbers. */
bool scl_lua_equal_sparse(lua_State *L);

/* The arguments of hcat (across) or vcat, of which one is sparse, as one sparse matrix. */
int scl_lua_concatenate_sparse(lua_State *L, bool across);

/* Methods and metamethods of products and reductions. */
extern const luaL_Reg scl_lua_sparse_math[], scl_lua_sparse_operators[];

#endif
