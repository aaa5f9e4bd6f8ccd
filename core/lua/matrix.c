/* The Lua matrix: making, reading, writing, views. */
#include "matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- userdata */

static int collect(lua_State *L) {
  scl_matrix *a = lua_touserdata(L, 1);
  if (a != NULL) scl_matrix_release(a);
  return 0;
}

scl_matrix *scl_lua_new_matrix(lua_State *L) {
  scl_matrix *a = lua_newuserdatauv(L, sizeof *a, 0);
  memset(a, 0, sizeof *a);
  luaL_setmetatable(L, SCL_LUA_MATRIX);
  return a;
}

scl_matrix *scl_lua_test_matrix(lua_State *L, int place) {
  scl_matrix *a = luaL_testudata(L, place, SCL_LUA_MATRIX);
  return a == NULL || a->storage == NULL ? NULL : a;
}

scl_matrix *scl_lua_check_matrix(lua_State *L, int place) {
  scl_matrix *a = luaL_testudata(L, place, SCL_LUA_MATRIX);
  if (a == NULL) luaL_typeerror(L, place, "matrix");
  if (a->storage == NULL) luaL_argerror(L, place, "this matrix was released");
  return a;
}

scl_matrix *scl_lua_make_matrix(lua_State *L, size_t rows, size_t cols, scl_dtype dtype) {
  scl_error error = {0};
  scl_matrix *a = scl_lua_new_matrix(L);
  scl_status status = scl_matrix_create_raw(rows, cols, dtype, a, &error);
  if (status == SCL_NO_MEMORY && (double)rows * (double)cols < 1e12) { /* garbage may hold what is missing */
    lua_gc(L, LUA_GCCOLLECT);
    status = scl_matrix_create_raw(rows, cols, dtype, a, &error);
  }
  scl_lua_check(L, status, &error);
  scl_lua_account(L, scl_matrix_bytes(a));
  return a;
}

size_t scl_lua_check_place(lua_State *L, int place, size_t count, const char *what) {
  int is_number = 0;
  const lua_Number value = lua_tonumberx(L, place, &is_number);
  if (!is_number) luaL_error(L, "%s got %s; it takes a whole number from 1 to %I", what, luaL_typename(L, place), (LUAI_UACINT)count);
  if (!(value >= 1 && value <= (double)count) || value != floor(value))
    luaL_error(L, "%s %f is outside: the matrix has %s 1 to %I", what, value, what, (LUAI_UACINT)count);
  return (size_t)value - 1;
}

/* ---------------------------------------------------------------- making */

static scl_dtype dtype_option(lua_State *L, int place) {
  if (lua_isnoneornil(L, place)) return SCL_F64;
  luaL_checktype(L, place, LUA_TTABLE);
  lua_getfield(L, place, "dtype");
  const scl_dtype dtype = scl_lua_check_dtype(L, lua_gettop(L));
  lua_pop(L, 1);
  return dtype;
}

static int filled(lua_State *L, double value) {
  const size_t rows = scl_lua_check_size(L, 1, 0, (size_t)1 << 52, "n");
  const size_t cols = lua_isnoneornil(L, 2) ? 1 : scl_lua_check_size(L, 2, 0, (size_t)1 << 52, "d");
  const scl_dtype dtype = dtype_option(L, 3);
  scl_matrix *a = scl_lua_make_matrix(L, rows, cols, dtype);
  for (size_t i = 0; i < rows * cols; i++) {
    if (dtype == SCL_F64)
      ((double *)a->data)[i] = value;
    else
      ((float *)a->data)[i] = (float)value;
  }
  return 1;
}

static int zeros(lua_State *L) { return filled(L, 0); }
static int ones(lua_State *L) { return filled(L, 1); }

static int eye(lua_State *L) {
  const scl_dtype dtype = dtype_option(L, 2);
  lua_settop(L, 1);
  lua_pushvalue(L, 1);
  lua_newtable(L);
  lua_pushstring(L, scl_dtype_name(dtype));
  lua_setfield(L, 3, "dtype");
  filled(L, 0);
  scl_matrix *a = scl_lua_check_matrix(L, -1);
  for (size_t i = 0; i < a->rows; i++) scl_matrix_set(a, i, i, 1);
  return 1;
}

static double number_at(lua_State *L, int place, size_t row, size_t col) {
  int is_number = 0;
  const double value = lua_tonumberx(L, place, &is_number);
  if (!is_number) luaL_error(L, "matrix: row %I, column %I is %s, not a number", (LUAI_UACINT)row + 1, (LUAI_UACINT)col + 1, luaL_typename(L, place));
  return value;
}

/* matrix{{1, 2}, {3, 4}} or matrix{1, 2, 3} (one column) */
static int from_table(lua_State *L) {
  if (scl_lua_test_matrix(L, 1) != NULL) {
    lua_pushvalue(L, 1);
    return 1;
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  const scl_dtype dtype = lua_isnoneornil(L, 2) ? dtype_option(L, 1) : dtype_option(L, 2);
  const size_t rows = (size_t)luaL_len(L, 1);
  lua_geti(L, 1, 1);
  const bool nested = lua_type(L, -1) == LUA_TTABLE;
  const size_t cols = rows == 0 ? 0 : nested ? (size_t)luaL_len(L, -1) : 1;
  lua_pop(L, 1);
  scl_matrix *a = scl_lua_make_matrix(L, rows, cols, dtype);
  for (size_t i = 0; i < rows; i++) {
    lua_geti(L, 1, (lua_Integer)i + 1);
    if (!nested) {
      scl_matrix_set(a, i, 0, number_at(L, -1, i, 0));
    } else {
      if (lua_type(L, -1) != LUA_TTABLE || (size_t)luaL_len(L, -1) != cols)
        return luaL_error(L, "matrix: row %I must be a list of %I numbers, as row 1 is", (LUAI_UACINT)i + 1, (LUAI_UACINT)cols);
      for (size_t j = 0; j < cols; j++) {
        lua_geti(L, -1, (lua_Integer)j + 1);
        scl_matrix_set(a, i, j, number_at(L, -1, i, j));
        lua_pop(L, 1);
      }
    }
    lua_pop(L, 1);
  }
  return 1;
}

/* Side by side (across) or one below the other. */
static int concatenate(lua_State *L, bool across) {
  const int count = lua_gettop(L);
  const char *name = across ? "hcat" : "vcat";
  if (count == 0) return luaL_error(L, "%s takes at least one matrix", name);
  const scl_matrix *first = scl_lua_check_matrix(L, 1);
  size_t rows = across ? first->rows : 0, cols = across ? 0 : first->cols;
  scl_dtype dtype = SCL_F32;
  for (int k = 1; k <= count; k++) {
    const scl_matrix *a = scl_lua_check_matrix(L, k);
    if (a->dtype == SCL_F64) dtype = SCL_F64;
    if (across ? a->rows != rows : a->cols != cols)
      return luaL_error(L, "%s: matrix %d is %I x %I where the first is %I x %I", name, k, (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols,
                        (LUAI_UACINT)first->rows, (LUAI_UACINT)first->cols);
    if (across)
      cols += a->cols;
    else
      rows += a->rows;
  }
  const scl_matrix *out = scl_lua_make_matrix(L, rows, cols, dtype);
  for (int k = 1, at = 0; k <= count; k++) {
    const scl_matrix *a = scl_lua_check_matrix(L, k);
    scl_matrix part = across ? scl_matrix_slice(out, 0, rows, (size_t)at, a->cols) : scl_matrix_slice(out, (size_t)at, a->rows, 0, cols);
    scl_matrix_assign(a, &part);
    scl_matrix_release(&part);
    at += (int)(across ? a->cols : a->rows);
  }
  return 1;
}

static int hcat(lua_State *L) { return concatenate(L, true); }
static int vcat(lua_State *L) { return concatenate(L, false); }

static int is_matrix(lua_State *L) {
  lua_pushboolean(L, scl_lua_test_matrix(L, 1) != NULL);
  return 1;
}

/* ---------------------------------------------------------------- reading and writing numbers */

static int get_rows(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)scl_lua_check_matrix(L, 1)->rows);
  return 1;
}

static int get_cols(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)scl_lua_check_matrix(L, 1)->cols);
  return 1;
}

static int get_dtype(lua_State *L) {
  lua_pushstring(L, scl_dtype_name(scl_lua_check_matrix(L, 1)->dtype));
  return 1;
}

static int get(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row"), j = scl_lua_check_place(L, 3, a->cols, "column");
  lua_pushnumber(L, scl_matrix_get(a, i, j));
  return 1;
}

static int set(lua_State *L) {
  scl_matrix *a = scl_lua_check_matrix(L, 1);
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row"), j = scl_lua_check_place(L, 3, a->cols, "column");
  scl_matrix_set(a, i, j, luaL_checknumber(L, 4));
  lua_settop(L, 1);
  return 1;
}

/* A view of `from` on the stack. */
static void push_view(lua_State *L, const scl_matrix *from, size_t row, size_t rows, size_t col, size_t cols) {
  scl_matrix *view = scl_lua_new_matrix(L);
  *view = scl_matrix_slice(from, row, rows, col, cols);
}

/* X[i]: row i as a view, a number when there is one column; X.name: a method (upvalue 1) */
static int index(lua_State *L) {
  if (lua_type(L, 2) != LUA_TNUMBER) {
    lua_settop(L, 2);
    lua_gettable(L, lua_upvalueindex(1));
    return 1;
  }
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row");
  if (a->cols == 1)
    lua_pushnumber(L, scl_matrix_get(a, i, 0));
  else
    push_view(L, a, i, 1, 0, a->cols);
  return 1;
}

/* X[i] = number (one column), list or 1 x d matrix */
static int newindex(lua_State *L) {
  scl_matrix *a = scl_lua_check_matrix(L, 1);
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row");
  const scl_matrix *row = scl_lua_test_matrix(L, 3);
  if (row != NULL) {
    if (row->rows != 1 || row->cols != a->cols)
      return luaL_error(L, "row %I takes a 1 x %I matrix, and got %I x %I", (LUAI_UACINT)i + 1, (LUAI_UACINT)a->cols, (LUAI_UACINT)row->rows,
                        (LUAI_UACINT)row->cols);
    for (size_t j = 0; j < a->cols; j++) scl_matrix_set(a, i, j, scl_matrix_get(row, 0, j));
  } else if (lua_type(L, 3) == LUA_TTABLE) {
    if ((size_t)luaL_len(L, 3) != a->cols)
      return luaL_error(L, "row %I takes %I numbers, and got %I", (LUAI_UACINT)i + 1, (LUAI_UACINT)a->cols, (LUAI_UACINT)luaL_len(L, 3));
    for (size_t j = 0; j < a->cols; j++) {
      lua_geti(L, 3, (lua_Integer)j + 1);
      scl_matrix_set(a, i, j, number_at(L, -1, i, j));
      lua_pop(L, 1);
    }
  } else if (a->cols == 1) {
    scl_matrix_set(a, i, 0, luaL_checknumber(L, 3));
  } else {
    return luaL_error(L, "row %I takes a list or a 1 x %I matrix, and got %s", (LUAI_UACINT)i + 1, (LUAI_UACINT)a->cols, luaL_typename(L, 3));
  }
  return 0;
}

static int totable(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  lua_createtable(L, (int)scl_min(a->rows, 1 << 20), 0);
  for (size_t i = 0; i < a->rows; i++) {
    lua_createtable(L, (int)scl_min(a->cols, 1 << 20), 0);
    for (size_t j = 0; j < a->cols; j++) {
      lua_pushnumber(L, scl_matrix_get(a, i, j));
      lua_rawseti(L, -2, (lua_Integer)j + 1);
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* ---------------------------------------------------------------- views and copies */

/* slice(i1, i2[, j1, j2]), both ends included */
static int slice(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const size_t first = scl_lua_check_place(L, 2, a->rows, "row"), last = scl_lua_check_place(L, 3, a->rows, "row");
  size_t left = 0, right = a->cols;
  if (!lua_isnoneornil(L, 4)) {
    left = scl_lua_check_place(L, 4, a->cols, "column");
    right = scl_lua_check_place(L, 5, a->cols, "column") + 1;
  }
  if (last < first || right < left + (lua_isnoneornil(L, 4) ? 0 : 1)) return luaL_error(L, "slice: the end lies before the beginning");
  push_view(L, a, first, last - first + 1, left, right - left);
  return 1;
}

static int column(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  push_view(L, a, 0, a->rows, scl_lua_check_place(L, 2, a->cols, "column"), 1);
  return 1;
}

static int row(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  push_view(L, a, scl_lua_check_place(L, 2, a->rows, "row"), 1, 0, a->cols);
  return 1;
}

static int transpose(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  scl_matrix *view = scl_lua_new_matrix(L);
  *view = scl_matrix_transpose(a);
  return 1;
}

/* select(list or n x 1 matrix of row numbers) */
static int select_rows(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1), *places = scl_lua_test_matrix(L, 2);
  if (places == NULL) luaL_checktype(L, 2, LUA_TTABLE);
  const size_t count = places != NULL ? places->rows : (size_t)luaL_len(L, 2);
  const scl_matrix *out = scl_lua_make_matrix(L, count, a->cols, a->dtype);
  for (size_t i = 0; i < count; i++) {
    if (places != NULL)
      lua_pushnumber(L, scl_matrix_get(places, i, 0));
    else
      lua_geti(L, 2, (lua_Integer)i + 1);
    const size_t from = scl_lua_check_place(L, lua_gettop(L), a->rows, "row");
    scl_matrix source = scl_matrix_slice(a, from, 1, 0, a->cols), target = scl_matrix_slice(out, i, 1, 0, a->cols);
    scl_matrix_assign(&source, &target);
    scl_matrix_release(&source);
    scl_matrix_release(&target);
    lua_pop(L, 1);
  }
  return 1;
}

static int copy_as(lua_State *L, scl_dtype dtype) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  scl_matrix *out = scl_lua_make_matrix(L, a->rows, a->cols, dtype);
  scl_matrix_assign(a, out);
  return 1;
}

static int copy(lua_State *L) { return copy_as(L, scl_lua_check_matrix(L, 1)->dtype); }

static int astype(lua_State *L) {
  luaL_checkstring(L, 2);
  return copy_as(L, scl_lua_check_dtype(L, 2));
}

/* X:save("x.npy"), through the writer of scullery.core */
static int save(lua_State *L) {
  scl_lua_check_matrix(L, 1);
  luaL_checkstring(L, 2);
  lua_settop(L, 2);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "scullery.core");
  lua_getfield(L, -1, "write_npy");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 0);
  return 0;
}

/* ---------------------------------------------------------------- printing and comparing */

static void add_corner(luaL_Buffer *b, const scl_matrix *a) {
  enum { SHOWN = 6 };
  char text[40];
  for (size_t i = 0; i < scl_min(a->rows, SHOWN); i++) {
    luaL_addstring(b, "\n ");
    for (size_t j = 0; j < scl_min(a->cols, SHOWN); j++) {
      (void)snprintf(text, sizeof text, " %10.5g", scl_matrix_get(a, i, j));
      luaL_addstring(b, text);
    }
    if (a->cols > SHOWN) luaL_addstring(b, "  ...");
  }
  if (a->rows > SHOWN) luaL_addstring(b, "\n  ...");
}

static int tostring(lua_State *L) {
  const scl_matrix *a = luaL_checkudata(L, 1, SCL_LUA_MATRIX);
  luaL_Buffer b;
  char text[80];
  luaL_buffinit(L, &b);
  (void)snprintf(text, sizeof text, "matrix %zu x %zu %s", a->rows, a->cols, a->storage == NULL ? "(released)" : scl_dtype_name(a->dtype));
  luaL_addstring(&b, text);
  if (a->storage != NULL) add_corner(&b, a);
  luaL_pushresult(&b);
  return 1;
}

/* Same shape and values, whatever the dtype; NaN equals nothing. */
static int equal(lua_State *L) {
  const scl_matrix *a = scl_lua_test_matrix(L, 1), *b = scl_lua_test_matrix(L, 2);
  bool same = a != NULL && b != NULL && a->rows == b->rows && a->cols == b->cols;
  for (size_t i = 0; same && i < a->rows; i++)
    for (size_t j = 0; same && j < a->cols; j++) same = scl_matrix_get(a, i, j) == scl_matrix_get(b, i, j);
  lua_pushboolean(L, same);
  return 1;
}

void scl_lua_open_matrix(lua_State *L) {
  static const luaL_Reg functions[] = {{"matrix", from_table}, {"zeros", zeros}, {"ones", ones}, {"eye", eye}, {"hcat", hcat},
                                       {"vcat", vcat}, {"is_matrix", is_matrix}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"rows", get_rows}, {"cols", get_cols}, {"dtype", get_dtype}, {"get", get}, {"set", set},
                                     {"slice", slice}, {"column", column}, {"row", row}, {"t", transpose}, {"select", select_rows},
                                     {"copy", copy}, {"astype", astype}, {"save", save}, {"totable", totable}, {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", collect}, {"__close", collect}, {"__len", get_rows}, {"__newindex", newindex},
                                  {"__tostring", tostring}, {"__eq", equal}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  luaL_newmetatable(L, SCL_LUA_MATRIX);
  const int metatable = lua_gettop(L);
  luaL_setfuncs(L, meta, 0);
  lua_newtable(L);
  const int table = lua_gettop(L);
  luaL_setfuncs(L, methods, 0);
  scl_lua_add_matrix_math(L, table, metatable);
  lua_pushvalue(L, table);
  lua_pushcclosure(L, index, 1);
  lua_setfield(L, metatable, "__index");
  lua_pushvalue(L, table);
  lua_setfield(L, metatable, "methods"); /* for completion and help */
  lua_pushboolean(L, 0);
  lua_setfield(L, metatable, "__metatable");
  lua_pushvalue(L, table);
  lua_setfield(L, metatable - 1, "matrix_methods");
  lua_settop(L, metatable - 1);
}
