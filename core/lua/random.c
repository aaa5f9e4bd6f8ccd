/* scullery.core: random matrices, permutations and single numbers. A number depends on (seed,
 * stream, index, offset) alone (base/random.h), so results do not depend on threads or on the
 * machine. */
#include "base/random.h"
#include "algebra/draws.h"
#include "base/interrupt.h"
#include "lua/list.h"
#include "lua/matrix.h"

/* A whole number at `place`, 0 when absent; any Lua integer, and floats that are whole. */
static uint64_t check_seed(lua_State *L, int place) {
  int is_whole = 1;
  const lua_Integer seed = lua_isnoneornil(L, place) ? 0 : lua_tointegerx(L, place, &is_whole);
  if (!is_whole || lua_type(L, place) == LUA_TSTRING)
    luaL_error(L, "'seed' got %s; it takes a whole number",
               lua_type(L, place) == LUA_TNUMBER ? luaL_tolstring(L, place, NULL)
                                                 : luaL_typename(L, place));
  return (uint64_t)seed;
}

/* name{n, d, seed =, dtype =}: item = row, so that the first rows do not depend on n */
static int random_matrix(lua_State *L, const char *name, scl_draw_numbers fill) {
  static const char *const options[] = {"seed", "dtype", NULL};
  if (lua_type(L, 1) != LUA_TTABLE)
    return luaL_error(L, "%s takes a table, %s{ n, d, seed = 0 }, and got %s", name, name,
                      luaL_typename(L, 1));
  lua_settop(L, 1);
  scl_lua_check_options(L, 1, name, options);
  scl_lua_copy_table(L, 1, name);
  if (lua_rawgeti(L, 1, 3) != LUA_TNIL)
    return luaL_error(L, "%s takes two sizes, %s{ n, d, seed = 0 }, and got a third", name, name);
  lua_settop(L, 1);
  lua_rawgeti(L, 1, 1);
  const size_t rows = scl_lua_check_size(L, 2, 0, SCL_LUA_MATRIX_SIDE, "n' of '{ n, d }");
  lua_rawgeti(L, 1, 2);
  const size_t cols = scl_lua_opt_size(L, 3, 0, SCL_LUA_MATRIX_SIDE, "d' of '{ n, d }", 1);
  lua_getfield(L, 1, "seed");
  const uint64_t seed = check_seed(L, 4);
  lua_getfield(L, 1, "dtype");
  scl_matrix_draw(fill, seed, scl_lua_make_matrix(L, rows, cols, scl_lua_check_dtype(L, 5)));
  scl_lua_check_interrupt(L);
  return 1;
}

static int rand_matrix(lua_State *L) { return random_matrix(L, "rand", scl_random_uniform); }
static int randn_matrix(lua_State *L) { return random_matrix(L, "randn", scl_random_normal); }

/* core.permutation(n, seed, stream) -> list of 1 .. n, the order of n random keys */
static int permutation(lua_State *L) {
  const size_t n = scl_lua_check_size(L, 1, 0, 1000000000, "n");
  const uint64_t seed = check_seed(L, 2),
                 stream = (uint64_t)luaL_optinteger(L, 3, SCL_STREAM_SPLIT);
  scl_lua_check_room(L, 64.0 * (double)n, "a permutation");
  scl_keyed *list = lua_newuserdatauv(L, (n + 1) * sizeof *list, 0);
  scl_permute(seed, stream, n, list);
  scl_lua_check_interrupt(L);
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n && !scl_interrupted(); i++) {
    lua_pushinteger(L, (lua_Integer)list[i].place + 1);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  scl_lua_check_interrupt(L);
  return 1;
}

/* core.uniform(seed, stream, index, offset), core.normal(...) -> the number at that address */
static int draw_one(lua_State *L, scl_draw_numbers fill) {
  double value;
  uint64_t at[4];
  for (int i = 0; i < 4; i++)
    at[i] = (uint64_t)luaL_checkinteger(L, i + 1);
  fill(at[0], at[1], at[2], at[3], 1, &value);
  return scl_lua_give_number(L, value);
}

static int uniform(lua_State *L) { return draw_one(L, scl_random_uniform); }
static int normal(lua_State *L) { return draw_one(L, scl_random_normal); }

SCL_LUA_CALLS(scl_lua_random_calls, {"rand", rand_matrix, -1}, {"randn", randn_matrix, -1},
              {"permutation", permutation, -1}, {"uniform", uniform, -1}, {"normal", normal, -1});
