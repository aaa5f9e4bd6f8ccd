/* scullery.core: packed codes (codes/codes.h): matrices of small whole numbers, packed to a few
 * bits for each, which are compared and searched as they are. Lua holds them as handles;
 * lua/scullery/compose/codes.lua gives them their methods. Matrices of row numbers count from 1. */
#include "codes/codes.h"
#include "data/codes_file.h"
#include "lua/handle.h"
#include "lua/matrix.h"

#include <stdio.h>
#include <string.h>

#define SCL_LUA_CODES "scullery.codes"

static void release_codes(void *codes) { scl_codes_destroy(codes); }

static scl_codes *check_codes(lua_State *L, int place) {
  return scl_lua_check_handle(L, place, SCL_LUA_CODES);
}

/* The same as SCL_LUA_PUSH_HANDLE, for codes; their bytes are Lua's. */
#define PUSH_CODES(L, call) \
  do { \
    SCL_LUA_PUSH_HANDLE(L, scl_lua_new_handle(L, SCL_LUA_CODES, release_codes), scl_codes, call); \
    scl_lua_account(L, scl_codes_bytes(check_codes(L, -1))); \
  } while (0)

/* codes_pack(matrix, levels or nil) -> codes */
static int pack(lua_State *L) {
  const size_t levels = scl_lua_opt_size(L, 2, 1, SCL_CODES_LEVELS, "levels", 0);
  const scl_matrix *numbers = scl_lua_hold_matrix(L, 1);
  PUSH_CODES(L, scl_codes_pack(numbers, levels, &made, &error));
  return 1;
}

/* codes_unpack(codes) -> matrix */
static int unpack(lua_State *L) {
  const scl_codes *codes = check_codes(L, 1);
  scl_matrix *out =
      scl_lua_make_matrix(L, scl_codes_rows(codes), scl_codes_cols(codes), SCL_DTYPE_FLOAT64);
  scl_codes_unpack(codes, out);
  return 1;
}

/* codes_info(codes) -> rows, columns, levels, bits of a number, bytes */
static int info(lua_State *L) {
  const scl_codes *codes = check_codes(L, 1);
  return SCL_LUA_GIVE_SIZES(L, scl_codes_rows(codes), scl_codes_cols(codes),
                            scl_codes_levels(codes), scl_codes_planes(codes),
                            scl_codes_bytes(codes));
}

/* codes_compare(a, b, agree) -> rows of a x rows of b: the share of numbers that differ; with
 * agree, that agree */
static int compare(lua_State *L) {
  const scl_codes *a = check_codes(L, 1), *b = check_codes(L, 2);
  scl_matrix *out = scl_lua_make_matrix(L, scl_codes_rows(a), scl_codes_rows(b), SCL_DTYPE_FLOAT64);
  SCL_LUA_TRY(L, scl_codes_compare(a, b, lua_toboolean(L, 3), out, &error));
  return 1;
}

/* codes_nearest(codes, queries, k) -> rows of the k nearest, their distances */
static int nearest(lua_State *L) {
  const scl_codes *codes = check_codes(L, 1), *queries = check_codes(L, 2);
  if (scl_codes_rows(codes) == 0) return luaL_error(L, "there are no codes to look among");
  const size_t k = scl_lua_check_size(L, 3, 1, scl_codes_rows(codes), "k"),
               rows = scl_codes_rows(queries);
  scl_matrix *index = scl_lua_make_matrix(L, rows, k, SCL_DTYPE_FLOAT64),
             *distance = scl_lua_make_matrix(L, rows, k, SCL_DTYPE_FLOAT64);
  SCL_LUA_TRY(L, scl_codes_nearest(codes, queries, k, index, distance, &error));
  return 2;
}

/* codes_select(codes, n x 1 matrix of row numbers) -> codes */
static int select_rows(lua_State *L) {
  const scl_matrix *places = scl_lua_hold_matrix(L, 2);
  if (places->cols != 1)
    return luaL_error(L, "takes a list or an n x 1 matrix of row numbers, and got a %I x %I matrix",
                      (LUAI_UACINT)places->rows, (LUAI_UACINT)places->cols);
  const scl_codes *from = check_codes(L, 1);
  const size_t count = places->rows, rows = scl_codes_rows(from);
  size_t *which = lua_newuserdatauv(L, (count + 1) * sizeof *which, 0);
  for (size_t i = 0; i < count; i++) {
    const double row = scl_matrix_get(places, i, 0);
    if (!(row >= 1 && row <= (double)rows) || row != (double)(size_t)row) {
      char text[32];
      (void)snprintf(text, sizeof text, "%.14g", row);
      return luaL_error(L, "row %s is outside: it takes whole numbers from 1 to %I", text,
                        (LUAI_UACINT)rows);
    }
    which[i] = (size_t)row - 1;
  }
  PUSH_CODES(L, scl_codes_select(from, which, count, &made, &error));
  return 1;
}

/* codes_write(codes, path) */
static int write_file(lua_State *L) {
  SCL_LUA_TRY(L, scl_codes_write(check_codes(L, 1), scl_lua_check_path(L, 2), &error));
  return 0;
}

/* codes_read(path) -> codes */
static int read_file(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  PUSH_CODES(L, scl_codes_read(path, &made, &error));
  return 1;
}

/* codes_ways([name]) -> the names of the ways of counting that work here, after taking up the named
 * one (the fastest is last) */
static int ways(lua_State *L) {
  const char *wanted = luaL_optstring(L, 1, NULL);
  lua_newtable(L);
  for (size_t way = 0; way < scl_codes_ways(); way++) {
    const char *name = scl_codes_way_name(way);
    if (wanted != NULL && strcmp(name, wanted) == 0) scl_codes_use_way(way);
    lua_pushstring(L, name);
    lua_rawseti(L, -2, (lua_Integer)way + 1);
  }
  return 1;
}

SCL_LUA_CALLS(scl_lua_codes_calls, {"codes_pack", pack, 2}, {"codes_unpack", unpack, 1},
              {"codes_info", info, 1}, {"codes_compare", compare, 3}, {"codes_nearest", nearest, 3},
              {"codes_select", select_rows, 2}, {"codes_write", write_file, 2},
              {"codes_read", read_file, 1}, {"codes_ways", ways, 1});
