/* The Lua matrix, shared by its files. */
#ifndef SCULLERY_LUA_MATRIX_H
#define SCULLERY_LUA_MATRIX_H

#include "lua/glue.h"
#include <stdint.h>

#define SCL_LUA_MATRIX "scullery.matrix"

/* The most rows or columns that the glue makes, and what OpenBLAS can count. */
enum { SCL_LUA_MATRIX_SIDE = INT32_MAX };

/* A fresh rows x cols matrix on the stack, contents not set. A collection may run: see
 * scl_lua_check_held. */
scl_matrix *scl_lua_make_matrix(lua_State *L, size_t rows, size_t cols, scl_dtype dtype);
/* A fresh copy of `a` on the stack. */
scl_matrix *scl_lua_copy_matrix(lua_State *L, const scl_matrix *a, scl_dtype dtype);
/* Raise where `a` was released since it was checked: finalizers and metamethods of the script's own
 * may do so whenever Lua runs or allocates. */
void scl_lua_check_held(lua_State *L, const scl_matrix *a);
/* Raise for a string key of the table at `place` that is not in `known` (NULL-terminated), with the
 * nearest name; nil and nothing are taken. */
void scl_lua_check_options(lua_State *L, int place, const char *function, const char *const *known);
/* A number (no text) at `place`, for row and col (from 0) of what `function` makes. */
double scl_lua_check_entry(lua_State *L, int place, const char *function, size_t row, size_t col);
/* A place from 1 to count at `place`; `what` is "row", "column" or "text". Returned from 0. */
size_t scl_lua_check_place(lua_State *L, int place, size_t count, const char *what);
/* Whether a place is that after the last one and is asked for by a function of Lua: ipairs ends there. */
bool scl_lua_ends_loop(lua_State *L, int place, size_t count);
/* The same of each number of the argument of `select` (scl_lua_check_numbers), of `rows` places, in a
 * userdata left on the stack. */
size_t *scl_lua_check_places(lua_State *L, int place, size_t rows, const char *what, size_t *count);

/* The arguments of X:astype(dtype) and X:save(path). */
scl_dtype scl_lua_check_new_dtype(lua_State *L);
const char *scl_lua_check_new_path(lua_State *L);

/* The numbers of a list, or of a matrix of one column or row, copied to a userdata left on the
 * stack; raises for anything else. */
double *scl_lua_check_numbers(lua_State *L, int place, const char *what, size_t *count);

/* Raise: the value at `place` is not an object of the class, which `noun` names. */
void scl_lua_refuse_argument(lua_State *L, int place, const char *class, const char *noun);
/* A class whose objects a script indexes with numbers and with the names of methods. Lists end with
 * {NULL, NULL}; the second of two may be NULL. */
typedef struct scl_lua_class {
  const char *name, *key; /* of the metatable, and of the methods in scullery.core */
  const char *noun;       /* "a matrix" */
  bool sparse;            /* X.sparse */
  lua_CFunction element;  /* X[i] */
  const luaL_Reg *methods[2], *metamethods[2];
} scl_lua_class;
#define SCL_LUA_METHODS(list, ...) const luaL_Reg list[] = {__VA_ARGS__, {NULL, NULL}}
/* Add the class to scullery.core, the table on top of the stack. */
void scl_lua_add_class(lua_State *L, const scl_lua_class *class);
extern const scl_lua_class scl_lua_matrix_class;

/* Call core.NAME(value at place 1, `absent` times nil, value at place 2). */
void scl_lua_call_writer(lua_State *L, const char *name, int absent);

/* Methods of arithmetic, reductions and decompositions, and their metamethods. */
extern const luaL_Reg scl_lua_matrix_math[], scl_lua_matrix_operators[];

#endif
