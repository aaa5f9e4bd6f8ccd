/* Lua glue: userdata, argument checks, errors. No mathematics here. Every file core/lua/NAME.c
 * defines scl_lua_open_NAME, which adds its functions to the table `scullery.core` that lies on top
 * of the stack. */
#ifndef SCULLERY_GLUE_H
#define SCULLERY_GLUE_H

#include "algebra/matrix.h"
#include <lauxlib.h>
#include <lua.h>

/* Raise the sentence as a Lua error with the caller's place in front; does not return. Free
 * everything first. */
int scl_lua_raise(lua_State *L, const scl_error *error);
/* Raise where status is not SCL_STATUS_OK. */
void scl_lua_check(lua_State *L, scl_status status, const scl_error *error);

/* The matrix at `place`, or an argument error. The pointer lives as long as the Lua value. */
scl_matrix *scl_lua_check_matrix(lua_State *L, int place);
/* The same, NULL when it is no matrix. */
scl_matrix *scl_lua_test_matrix(lua_State *L, int place);
/* An empty matrix userdata on the stack, to be filled: make it first, compute into it afterwards,
 * and an error frees nothing by hand. */
scl_matrix *scl_lua_new_matrix(lua_State *L);
/* Tell Lua's collector of the bytes that a fresh matrix holds: call once it is filled. */
void scl_lua_account(lua_State *L, size_t bytes);

/* A whole number in [low, high] at `place`, with a sentence that names `what` otherwise. */
size_t scl_lua_check_size(lua_State *L, int place, size_t low, size_t high, const char *what);
/* "float64" or "float32" at `place` (absent: float64). */
scl_dtype scl_lua_check_dtype(lua_State *L, int place);

void scl_lua_open_matrix(lua_State *L);
void scl_lua_open_random(lua_State *L);
void scl_lua_open_data(lua_State *L);
void scl_lua_open_plugin(lua_State *L);
void scl_lua_open_source(lua_State *L);
void scl_lua_open_training(lua_State *L);
void scl_lua_open_model(lua_State *L);
void scl_lua_open_prune(lua_State *L);
void scl_lua_open_loss(lua_State *L);
void scl_lua_open_probabilities(lua_State *L);
void scl_lua_open_inspect(lua_State *L);
void scl_lua_open_engine(lua_State *L);
void scl_lua_open_kernel(lua_State *L);
void scl_lua_open_codes(lua_State *L);

#endif
