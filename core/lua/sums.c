/* scullery.core: exact sums over rows (rows/whole_sums.h) as Lua values, with the fingerprints of
 * the rows. lua/scullery/model/sums.lua makes `p:sums`, `sc.merge`, `p:update` and `p:forget` of
 * these. */
#include "model/sums.h"
#include "lua/arrays.h"
#include "lua/saved.h"
#include "lua/training.h"

static void release_sums(void *pointer) {
  scl_row_sums_release(pointer);
  scl_release(pointer);
}

static scl_row_sums *new_sums(lua_State *L) {
  return scl_lua_new_owned(L, SCL_LUA_SUMS, release_sums, sizeof(scl_row_sums));
}

/* core.sums_take(training, constant) -> the exact sums of its rows, for problems with a constant or
 * without; the training has none afterwards */
static int sums_take(lua_State *L) {
  scl_lua_training *t = scl_lua_take_training(L, 1);
  scl_row_sums *out = new_sums(L);
  SCL_LUA_TRY(L, scl_training_exact_sums(t->engine, lua_toboolean(L, 2), &out->whole, &error));
  out->printed = t->flow.prints != NULL;
  out->prints = t->prints;
  t->prints = (scl_fingerprints){0};
  return 1;
}

/* core.sums_copy(sums) -> sums */
static int sums_copy(lua_State *L) {
  scl_row_sums *from = scl_lua_take_handle(L, 1, SCL_LUA_SUMS), *out = new_sums(L);
  SCL_LUA_TRY(L, scl_row_sums_copy(from, out, &error));
  return 1;
}

/* core.sums_join(sums, other, subtract): add the rows of the other, or take them out */
static int sums_join(lua_State *L) {
  scl_row_sums *into = scl_lua_take_handle(L, 1, SCL_LUA_SUMS),
               *from = scl_lua_take_handle(L, 2, SCL_LUA_SUMS);
  const bool subtract = lua_toboolean(L, 3);
  SCL_LUA_TRY(L, scl_row_sums_join(into, from, subtract, &error));
  return 0;
}

/* core.sums_common(sums, other) -> how many rows of the other are in the sums, each copy once; nil
 * where one has no fingerprints */
static int sums_common(lua_State *L) {
  scl_row_sums *all = scl_lua_take_handle(L, 1, SCL_LUA_SUMS),
               *some = scl_lua_take_handle(L, 2, SCL_LUA_SUMS);
  if (!all->printed || !some->printed) return 0;
  lua_pushinteger(L, (lua_Integer)scl_fingerprints_common(&all->prints, &some->prints));
  return 1;
}

/* core.sums_without(sums, fold) -> the sums over all folds but that one (0: all), without folds and
 * fingerprints */
static int sums_without(lua_State *L) {
  const scl_row_sums *from = scl_lua_check_handle(L, 1, SCL_LUA_SUMS);
  const size_t fold = scl_lua_check_size(L, 2, 0, from->whole->groups, "fold");
  scl_row_sums *out = new_sums(L);
  SCL_LUA_TRY(L, scl_row_sums_without(from, (long)fold - 1, out, &error));
  return 1;
}

/* core.sums_error(sums, fold, map, weights, intercept, pilot or nil) -> the squared error of these
 * on the rows of the fold, summed over rows and targets; the sum of the rows' weights */
static int sums_error(lua_State *L) {
  const scl_row_sums *sums = scl_lua_check_handle(L, 1, SCL_LUA_SUMS);
  const size_t fold = scl_lua_check_size(L, 2, 1, sums->whole->groups, "fold") - 1;
  const scl_map *map = scl_lua_check_handle(L, 3, SCL_LUA_MAP);
  const scl_matrix *a = scl_lua_hold_matrix(L, 4), *b = scl_lua_hold_matrix(L, 5);
  const scl_matrix *pilot =
      lua_isnoneornil(L, 6) ? NULL : scl_lua_check_pilot(L, 6, sums->whole->features);
  double square, weight;
  if (scl_map_features(map) != sums->whole->features || a->rows != sums->whole->features ||
      a->cols != sums->whole->targets || b->rows != 1 || b->cols != a->cols)
    return luaL_error(L, "these coefficients are not of these sums");
  SCL_LUA_TRY(L, scl_row_sums_error(sums, fold, map, a, b, pilot, &square, &weight, &error));
  lua_pushnumber(L, square);
  lua_pushnumber(L, weight);
  return 2;
}

/* core.sums_info(sums) -> {features, targets, folds, fingerprints = how many, printed = whether
 * there are any, weight} */
static int sums_info(lua_State *L) {
  const scl_row_sums *sums = scl_lua_check_handle(L, 1, SCL_LUA_SUMS);
  lua_newtable(L);
  SCL_LUA_INTEGERS(L, {"features", sums->whole->features}, {"targets", sums->whole->targets},
                   {"folds", sums->whole->groups}, {"fingerprints", sums->prints.count});
  SCL_LUA_BOOLEANS(L, {"printed", sums->printed});
  scl_lua_set_number(L, "weight", scl_whole_sums_weight(sums->whole));
  return 1;
}

/* core.sums_save(sums) -> {name = an array (arrays.h)} */
static int sums_save(lua_State *L) {
  scl_row_sums *sums = scl_lua_take_handle(L, 1, SCL_LUA_SUMS);
  scl_array_archive *archive = scl_lua_new_archive(L);
  SCL_LUA_TRY(L, scl_row_sums_save(sums, archive, &error));
  scl_lua_push_archive(L, archive);
  return 1;
}

/* core.saved_sums(saved, features, targets) -> sums */
static int saved_sums(lua_State *L) {
  const scl_saved *saved = scl_lua_check_saved(L, 1);
  const size_t features = scl_lua_check_size(L, 2, 1, INT32_MAX, "features"),
               targets = scl_lua_check_size(L, 3, 1, INT32_MAX, "targets");
  scl_row_sums *out = new_sums(L);
  SCL_LUA_TRY(L, scl_saved_sums(saved, features, targets, out, &error));
  return 1;
}

/* core.absent_rows(rows, columns, targets) -> a source of so many rows, none of which can be
 * read */
static int absent_rows(lua_State *L) {
  const size_t rows = scl_lua_check_size(L, 1, 0, (size_t)1 << 53, "rows"),
               cols = scl_lua_check_size(L, 2, 1, INT32_MAX, "columns"),
               targets = scl_lua_check_size(L, 3, 0, INT32_MAX, "targets");
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_source(L), scl_source,
                      scl_source_absent(rows, cols, targets, &made, &error));
  return 1;
}

SCL_LUA_CALLS(scl_lua_sums_calls, {"sums_take", sums_take, 2}, {"sums_copy", sums_copy, 1},
              {"sums_join", sums_join, 3}, {"sums_common", sums_common, 2},
              {"sums_without", sums_without, 2}, {"sums_error", sums_error, 6},
              {"sums_info", sums_info, 1}, {"sums_save", sums_save, 1},
              {"saved_sums", saved_sums, 3}, {"absent_rows", absent_rows, 3});
