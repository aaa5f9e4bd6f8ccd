/* Guarded memory as Lua userdata, and blocks in it, for checks of plugins. */
#ifndef SCULLERY_CHECKER_BLOCKS_H
#define SCULLERY_CHECKER_BLOCKS_H

#include "checker/guarded.h"
#include "lua/handle.h"

/* The block that the table at `place` describes: { memory = checker.guarded(...), rows =, cols =,
 * planes = 1, row_stride = cols, plane_stride = rows * row_stride, offset = 0 }, counted in
 * elements. Raises where it does not lie in its memory. */
scl_block scl_lua_check_block(lua_State *L, int place);
scl_const_block scl_lua_check_const_block(lua_State *L, int place);
/* The memory at `place`, of at least `count` elements of the dtype; NULL where nothing is there. */
void *scl_lua_opt_guarded(lua_State *L, int place, scl_dtype dtype, size_t count);

#endif
