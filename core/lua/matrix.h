/* The Lua matrix, shared by its files. */
#ifndef SCULLERY_LUA_MATRIX_H
#define SCULLERY_LUA_MATRIX_H

#include "glue.h"

#define SCL_LUA_MATRIX "scullery.matrix"

/* A fresh rows x cols matrix on the stack, contents not set. */
scl_matrix *scl_lua_make_matrix(lua_State *L, size_t rows, size_t cols, scl_dtype dtype);
/* A place from 1 to count at `place`; `what` is "row" or "column". Returned from 0. */
size_t scl_lua_check_place(lua_State *L, int place, size_t count, const char *what);

/* Arithmetic, reductions and decompositions, added to the method table on top of the stack, and their metamethods to the metatable below it. */
void scl_lua_add_matrix_math(lua_State *L, int methods, int metatable);

#endif
