/* Classes and calibrated probabilities as Lua values. */
#ifndef SCULLERY_LUA_LABELS_H
#define SCULLERY_LUA_LABELS_H

#include "learn/isotonic.h"
#include "learn/labels.h"
#include "learn/platt.h"
#include "lua/glue.h"

/* The list of class labels at `place` as numbers: a label that is a number is that number, any
 * other label is its place in the list. The numbers are in a userdata left on the stack. */
scl_classes scl_lua_check_classes(lua_State *L, int place, bool strangers);
/* Scores at `place`: float64 with adjacent columns, as the engine makes them; raises for others. */
const scl_matrix *scl_lua_check_scores(lua_State *L, int place);
/* `count` sigmoids, {slope =, offset =}, at `place`, in a userdata left on the stack. */
const scl_platt *scl_lua_check_sigmoids(lua_State *L, int place, size_t count);
/* The same of curves, {scores = {...}, shares = {...}}; NULL where the first element has no
 * shares. */
const scl_isotonic *scl_lua_test_curves(lua_State *L, int place, size_t count);

#endif
