/* Parameters in guarded memory, as Lua tables, for checks of samplers and kernels. */
#ifndef SCULLERY_CHECKER_PARAMETERS_H
#define SCULLERY_CHECKER_PARAMETERS_H

#include "checker/blocks.h"
#include "map/parameters.h"

/* The parameters that the table at `place` describes: { space = "dense", dim =, first = 0, count =,
 * weights = block, bias = memory of count numbers or nil, support = block of int32 or nil }. */
scl_parameters scl_lua_check_parameters(lua_State *L, int place);
/* The draw at `place` (sampler.c says what it holds); it points into *origin. */
scl_draw scl_lua_check_draw(lua_State *L, int place, scl_origin *origin);
/* A whole number in the field `key` of the table at `place`, `absent` where it is not there. */
size_t scl_lua_size_field(lua_State *L, int place, const char *key, size_t absent);

#endif
