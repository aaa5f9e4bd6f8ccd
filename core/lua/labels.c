/* scullery.core: labels, and the numeric targets that encode them (learn/labels.h). */
#include "lua/labels.h"

#include "lua/handle.h"
#include "lua/list.h"

scl_classes scl_lua_check_classes(lua_State *L, int place, bool strangers) {
  const size_t count = scl_lua_copy_list(L, place, INT32_MAX, "classes");
  if (count < 2)
    luaL_error(L, "'classes' got a list of %I; it takes two or more", (LUAI_UACINT)count);
  double *values = lua_newuserdatauv(L, (count + 1) * sizeof *values, 0);
  for (size_t k = 0; k < count; k++) {
    lua_rawgeti(L, place, (lua_Integer)k + 1);
    values[k] = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : (double)k + 1;
    lua_pop(L, 1);
  }
  return (scl_classes){values, count, strangers};
}

/* core.code_targets(y, classes[, strangers]) -> n x 1 of -1 (first class) and +1, or n x c one
 * against all; with strangers 0, or -1 in each column, of a label that is none of the classes */
static int code_targets(lua_State *L) {
  const scl_matrix *y = scl_lua_hold_matrix(L, 1);
  const scl_classes classes = scl_lua_check_classes(L, 2, lua_toboolean(L, 3));
  SCL_LUA_PUSH_MATRIX(L, scl_code_labels(y, &classes, out, &error));
  return 1;
}

/* core.coded_source(source, classes[, strangers]) -> a source whose labels come as targets, as
 * core.code_targets gives them */
static int coded_source(lua_State *L) {
  scl_source *from = scl_lua_check_source(L, 1);
  const scl_classes classes = scl_lua_check_classes(L, 2, lua_toboolean(L, 3));
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_source(L), scl_source,
                      scl_source_coded(from, &classes, &made, &error));
  scl_lua_tie(L, -1, 1); /* the coded source reads from it */
  return 1;
}

/* core.classes_seen(source of core.coded_source) -> how many classes its rows had that were read:
 * 0, 1, or 2 for two and more */
static int classes_seen(lua_State *L) {
  return scl_lua_give_size(L, scl_source_classes_seen(scl_lua_check_source(L, 1)));
}

SCL_LUA_CALLS(scl_lua_labels_calls, {"code_targets", code_targets, 3},
              {"coded_source", coded_source, 3}, {"classes_seen", classes_seen, 1});
