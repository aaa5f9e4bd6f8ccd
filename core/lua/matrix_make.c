/* The Lua matrix: functions that make one: sc.matrix, sc.zeros, sc.ones, sc.eye, sc.hcat,
 * sc.vcat. */
#include "algebra/arithmetic.h"
#include "base/text.h"
#include "lua/list.h"
#include "lua/sparse.h"

#include "plugin/options.h"
#include <string.h>

void scl_lua_check_options(lua_State *L, int place, const char *function,
                           const char *const *known) {
  scl_option options[16] = {{.name = NULL}};
  size_t count = 0;
  if (lua_isnoneornil(L, place)) return;
  if (lua_type(L, place) != LUA_TTABLE)
    luaL_error(L, "%s: the options are a table, { dtype = ... }, and got %s", function,
               luaL_typename(L, place));
  for (; known[count] != NULL && count < 16; count++)
    options[count].name = known[count];
  for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1)) {
    bool found = lua_type(L, -2) != LUA_TSTRING;
    for (size_t i = 0; i < count && !found; i++)
      found = strcmp(lua_tostring(L, -2), known[i]) == 0;
    if (!found)
      SCL_LUA_TRY(L, scl_refuse_option(function, options, count, lua_tostring(L, -2), &error));
  }
}

static const char *const options[] = {"dtype", NULL};

/* The option `dtype` of the table at `place`; float64 where it is absent. */
static scl_dtype dtype_option(lua_State *L, int place, const char *function) {
  scl_lua_check_options(L, place, function, options);
  if (lua_isnoneornil(L, place)) return SCL_DTYPE_FLOAT64;
  lua_pushliteral(L, "dtype");
  lua_rawget(L, place);
  const scl_dtype dtype = scl_lua_check_dtype(L, lua_gettop(L));
  lua_pop(L, 1);
  return dtype;
}

/* zeros(n[, d[, {dtype =}]]) and ones: an n x d matrix of one value; d is 1 where it is absent.
 * n, d: what errors call the two between quotes. */
static int filled(lua_State *L, const char *name, const char *n, const char *d, double value) {
  const size_t rows = scl_lua_check_size(L, 1, 0, SCL_LUA_MATRIX_SIDE, n);
  const size_t cols = scl_lua_opt_size(L, 2, 0, SCL_LUA_MATRIX_SIDE, d, 1);
  scl_matrix_fill(scl_lua_make_matrix(L, rows, cols, dtype_option(L, 3, name)), value);
  scl_lua_check_interrupt(L);
  return 1;
}

static int zeros(lua_State *L) {
  return filled(L, "zeros", "n' of 'zeros(n, d)", "d' of 'zeros(n, d)", 0);
}
static int ones(lua_State *L) {
  return filled(L, "ones", "n' of 'ones(n, d)", "d' of 'ones(n, d)", 1);
}

/* eye(n[, {dtype =}]) -> the n x n identity matrix */
static int eye(lua_State *L) {
  const size_t n = scl_lua_check_size(L, 1, 0, SCL_LUA_MATRIX_SIDE, "n' of 'eye(n)");
  scl_matrix *a = scl_lua_make_matrix(L, n, n, dtype_option(L, 2, "eye"));
  scl_matrix_fill(a, 0);
  scl_lua_check_interrupt(L);
  for (size_t i = 0; i < n; i++)
    scl_matrix_set(a, i, i, 1);
  return 1;
}

/* matrix{{1, 2}, {3, 4}}, matrix{1, 2, 3} (one column), or matrix(X[, {dtype =}]): X itself, or a
 * copy where another dtype is asked for */
static int from_table(lua_State *L) {
  const scl_matrix *given = scl_lua_test_matrix(L, 1);
  if (given != NULL) {
    const scl_dtype dtype = lua_isnoneornil(L, 2) ? given->dtype : dtype_option(L, 2, "matrix");
    lua_pushvalue(L, 1);
    if (dtype != given->dtype) (void)scl_lua_copy_matrix(L, given, dtype);
    return 1;
  }
  if (scl_lua_test_csr(L, 1) != NULL)
    return luaL_error(L, "matrix got a sparse matrix; X:dense() makes it dense");
  if (lua_type(L, 1) != LUA_TTABLE)
    return luaL_error(L, "matrix takes a list of rows, {{1, 2}, {3, 4}}, and got %s",
                      luaL_typename(L, 1));
  const scl_dtype inside = dtype_option(L, 1, "matrix"),
                  dtype = lua_isnoneornil(L, 2) ? inside : dtype_option(L, 2, "matrix");
  const size_t rows = scl_lua_copy_list(L, 1, SCL_LUA_MATRIX_SIDE, "matrix");
  lua_rawgeti(L, 1, 1);
  const int row = lua_gettop(L);
  const bool nested = lua_type(L, row) == LUA_TTABLE;
  const size_t cols = rows == 0 ? 0 : nested ? scl_lua_list_length(L, row, "matrix") : 1;
  scl_matrix *a = scl_lua_make_matrix(L, rows, cols, dtype);
  for (size_t i = 0; i < rows; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    if (!nested) {
      scl_matrix_set(a, i, 0, scl_lua_check_entry(L, -1, "matrix", i, 0));
      lua_pop(L, 1);
      continue;
    }
    lua_replace(L, row);
    if (lua_type(L, row) != LUA_TTABLE || scl_lua_list_length(L, row, "matrix") != cols)
      return luaL_error(L, "matrix: row %I must be a list of %I numbers, as row 1 is",
                        (LUAI_UACINT)i + 1, (LUAI_UACINT)cols);
    for (size_t j = 0; j < cols; j++) {
      lua_rawgeti(L, row, (lua_Integer)j + 1);
      scl_matrix_set(a, i, j, scl_lua_check_entry(L, -1, "matrix", i, j));
      lua_pop(L, 1);
    }
  }
  return 1;
}

/* Side by side (across) or one below the other. */
static int concatenate(lua_State *L, bool across) {
  const int count = lua_gettop(L);
  const char *name = across ? "hcat" : "vcat";
  if (count == 0) return luaL_error(L, "%s takes at least one matrix", name);
  for (int k = 1; k <= count; k++)
    if (scl_lua_test_csr(L, k) != NULL) return scl_lua_concatenate_sparse(L, across);
  const scl_matrix *first = scl_lua_check_matrix(L, 1);
  size_t rows = across ? first->rows : 0, cols = across ? 0 : first->cols;
  scl_dtype dtype = SCL_DTYPE_FLOAT32;
  for (int k = 1; k <= count; k++) {
    const scl_matrix *a = scl_lua_check_matrix(L, k);
    if (a->dtype == SCL_DTYPE_FLOAT64) dtype = SCL_DTYPE_FLOAT64;
    if (across ? a->rows != rows : a->cols != cols)
      return luaL_error(L, "%s: matrix %d is %I x %I where the first is %I x %I", name, k,
                        (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols, (LUAI_UACINT)first->rows,
                        (LUAI_UACINT)first->cols);
    if (across)
      cols += a->cols;
    else
      rows += a->rows;
  }
  const scl_matrix *out = scl_lua_make_matrix(L, rows, cols, dtype);
  size_t at = 0;
  for (int k = 1; k <= count; k++) {
    const scl_matrix *a = scl_lua_check_matrix(L, k);
    scl_matrix part = across ? scl_matrix_slice(out, 0, rows, at, a->cols)
                             : scl_matrix_slice(out, at, a->rows, 0, cols);
    scl_matrix_assign(a, &part);
    scl_matrix_release(&part);
    at += across ? a->cols : a->rows;
  }
  return 1;
}

static int hcat(lua_State *L) { return concatenate(L, true); }
static int vcat(lua_State *L) { return concatenate(L, false); }

static int is_matrix(lua_State *L) {
  return scl_lua_give_boolean(L, scl_lua_test_matrix(L, 1) != NULL);
}

SCL_LUA_CALLS(scl_lua_matrix_make_calls, {"matrix", from_table, -1}, {"zeros", zeros, -1},
              {"ones", ones, -1}, {"eye", eye, -1}, {"hcat", hcat, -1}, {"vcat", vcat, -1},
              {"is_matrix", is_matrix, -1});
