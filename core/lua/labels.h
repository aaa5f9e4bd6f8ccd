/* Classes and calibrated probabilities as Lua values. */
#ifndef SCULLERY_LUA_LABELS_H
#define SCULLERY_LUA_LABELS_H

#include "learn/labels.h"
#include "learn/platt.h"
#include "lua/glue.h"

/* Classes at `place`: numbers stand for themselves, other labels for their place in the list. The
 * numbers lie in a userdata left on the stack. */
scl_classes scl_lua_check_classes(lua_State *L, int place, bool strangers);
/* Scores that C can walk by rows: float64 with adjacent columns, as the engine makes them. */
const scl_matrix *scl_lua_check_scores(lua_State *L, int place);
/* `count` sigmoids, {slope =, offset =}, at `place`, in a userdata left on the stack. */
const scl_platt *scl_lua_check_sigmoids(lua_State *L, int place, size_t count);

#endif
