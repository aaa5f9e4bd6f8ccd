/* scullery.core: random matrices and permutations, addressed by seed. */
#include "engine/random.h"
#include "glue.h"

#include <stdlib.h>

typedef void (*draw)(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count, double *out);

/* name{n, d, seed =, dtype =}: item = row, so that the first rows do not depend on n */
static int random_matrix(lua_State *L, draw fill) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_geti(L, 1, 1);
  const size_t rows = scl_lua_check_size(L, 2, 0, (size_t)1 << 40, "n");
  lua_geti(L, 1, 2);
  const size_t cols = lua_isnil(L, 3) ? 1 : scl_lua_check_size(L, 3, 0, (size_t)1 << 40, "d");
  lua_getfield(L, 1, "seed");
  if (!lua_isnil(L, 4) && !lua_isinteger(L, 4)) return luaL_error(L, "'seed' got %s; it takes a whole number", luaL_tolstring(L, 4, NULL));
  const uint64_t seed = (uint64_t)luaL_optinteger(L, 4, 0);
  lua_getfield(L, 1, "dtype");
  const scl_dtype dtype = scl_lua_check_dtype(L, 5);
  scl_error error = {0};
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_matrix_create_raw(rows, cols, dtype, out, &error), &error);
  double *row = lua_newuserdatauv(L, (cols + 1) * sizeof *row, 0);
  for (size_t i = 0; i < rows; i++) {
    fill(seed, SCL_STREAM_MATRIX, i, 0, cols, row);
    for (size_t j = 0; j < cols; j++) scl_matrix_set(out, i, j, row[j]);
  }
  lua_pop(L, 1);
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

static int rand_matrix(lua_State *L) { return random_matrix(L, scl_random_uniform); }
static int randn_matrix(lua_State *L) { return random_matrix(L, scl_random_normal); }

typedef struct keyed {
  uint64_t key;
  size_t place;
} keyed;

static int by_key(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

/* core.permutation(n, seed, stream) -> list of 1 .. n, the order of n random keys */
static int permutation(lua_State *L) {
  const size_t n = scl_lua_check_size(L, 1, 0, (size_t)1 << 31, "n");
  const uint64_t seed = (uint64_t)luaL_optinteger(L, 2, 0), stream = (uint64_t)luaL_optinteger(L, 3, SCL_STREAM_SPLIT);
  keyed *list = lua_newuserdatauv(L, (n + 1) * sizeof *list, 0);
  for (size_t i = 0; i < n; i++) {
    scl_random_bits(seed, stream, i, 0, 1, &list[i].key);
    list[i].place = i;
  }
  qsort(list, n, sizeof *list, by_key);
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushinteger(L, (lua_Integer)list[i].place + 1);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

void scl_lua_open_random(lua_State *L) {
  static const luaL_Reg functions[] = {{"rand", rand_matrix}, {"randn", randn_matrix}, {"permutation", permutation}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
