/* The checker of plugins: the Lua module scullery.checker, in C, which `scullery plugin check`
 * loads. Each checker/NAME.c that has functions for Lua defines scl_checker_open_NAME, which adds
 * them to the table on top of the stack. What they share with scullery.core (core/lua: handles,
 * errors, running calls) they take from the program or module that loaded it. */
#ifndef SCULLERY_CHECKER_H
#define SCULLERY_CHECKER_H

#include "lua/glue.h"

void scl_checker_open_process(lua_State *L);
void scl_checker_open_blocks(lua_State *L);
void scl_checker_open_sampler(lua_State *L);
void scl_checker_open_nonlinearity(lua_State *L);
void scl_checker_open_kernel(lua_State *L);
void scl_checker_open_solver(lua_State *L);
void scl_checker_open_transport(lua_State *L);
void scl_checker_open_stage(lua_State *L);
void scl_checker_open_at_once(lua_State *L);
void scl_checker_open_sums(lua_State *L);
void scl_checker_open_metric(lua_State *L);
void scl_checker_open_loss(lua_State *L);
void scl_checker_open_reader(lua_State *L);
void scl_checker_open_domain(lua_State *L);

#endif
