#define _POSIX_C_SOURCE 200809L
/* The Lua matrix: making, reading, writing, views. This is a public class: scripts call its methods
 * with any arguments, and may release a matrix, or change the list that they passed, while a method
 * runs a metamethod or a finalizer. So a method checks its arguments, allocates its result, and
 * then checks with scl_lua_check_held that the arguments are still there. */
#include "lua/matrix.h"
#include "algebra/arithmetic.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "lua/list.h"
#include "lua/sparse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------ userdata */

/* __gc and __close. The storage goes when no view uses it any more. */
static int collect(lua_State *L) {
  scl_matrix *a =
      luaL_testudata(L, 1, SCL_LUA_MATRIX); /* a script may call this by hand with anything */
  if (a != NULL) scl_matrix_release(a);
  return 0;
}

typedef struct lua_matrix {
  scl_matrix matrix;
  bool is_row; /* came from X[i], so that X[i][j] is a number */
} lua_matrix;

scl_matrix *scl_lua_new_matrix(lua_State *L) {
  lua_matrix *a = lua_newuserdatauv(L, sizeof *a, 0);
  memset(a, 0, sizeof *a);
  luaL_setmetatable(L, SCL_LUA_MATRIX);
  return &a->matrix;
}

scl_matrix *scl_lua_test_matrix(lua_State *L, int place) {
  scl_matrix *a = luaL_testudata(L, place, SCL_LUA_MATRIX);
  return a == NULL || a->storage == NULL ? NULL : a;
}

/* The name of the running function among the methods of a class; NULL for any other function. */
static const char *own_method(lua_State *L, const char *class) {
  lua_Debug here;
  if (!lua_getstack(L, 0, &here) || !lua_getinfo(L, "f", &here)) return NULL;
  if (luaL_getmetatable(L, class) != LUA_TTABLE) return NULL;
  lua_getfield(L, -1, "methods");
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
    if (lua_rawequal(L, -1, -5)) return lua_tostring(L, -2);
  return NULL;
}

/* A method that was called with a dot is the usual cause. A sparse matrix in place of a matrix is
 * named, with the way to make it dense. */
void scl_lua_refuse_argument(lua_State *L, int place, const char *class, const char *noun) {
  const bool sparse = luaL_testudata(L, place, SCL_LUA_SPARSE) != NULL;
  const char *got = lua_isnone(L, place) ? "nothing"
                    : sparse             ? "a sparse matrix (X:dense() makes it dense)"
                                         : luaL_typename(L, place);
  const char *name = own_method(L, class);
  if (name != NULL && place == 1 && !sparse)
    luaL_error(L, "matrix:%s: call it with a colon, as in X:%s(...)", name, name);
  if (name != NULL) luaL_error(L, "matrix:%s: takes a %s, and got %s", name, noun, got);
  luaL_error(L, "takes a %s, and got %s", noun, got);
}

scl_matrix *scl_lua_check_matrix(lua_State *L, int place) {
  scl_matrix *a = luaL_testudata(L, place, SCL_LUA_MATRIX);
  if (a == NULL) scl_lua_refuse_argument(L, place, SCL_LUA_MATRIX, "matrix");
  if (a->storage == NULL) luaL_error(L, "this matrix was released");
  return a;
}

/* An allocation that fails is tried once more after a collection: matrices that nothing refers to
 * hold memory until Lua collects them. */
scl_matrix *scl_lua_make_matrix(lua_State *L, size_t rows, size_t cols, scl_dtype dtype) {
  scl_error error = {0};
  if (rows > SCL_LUA_MATRIX_SIDE || cols > SCL_LUA_MATRIX_SIDE)
    luaL_error(L, "a %I x %I matrix is too large: it may have %I rows and columns",
               (LUAI_UACINT)rows, (LUAI_UACINT)cols, (LUAI_UACINT)SCL_LUA_MATRIX_SIDE);
  scl_matrix *a = scl_lua_new_matrix(L);
  scl_status status = scl_matrix_create_raw(rows, cols, dtype, a, &error);
  if (status == SCL_STATUS_NO_MEMORY &&
      (double)rows * (double)cols < 1e12) { /* garbage may hold what is missing */
    lua_gc(L, LUA_GCCOLLECT);
    status = scl_matrix_create_raw(rows, cols, dtype, a, &error);
  }
  scl_lua_check(L, status, &error);
  scl_lua_account(L, scl_matrix_bytes(a));
  scl_lua_check_held(L, a);
  return a;
}

scl_matrix *scl_lua_copy_matrix(lua_State *L, const scl_matrix *a, scl_dtype dtype) {
  scl_matrix *out = scl_lua_make_matrix(L, a->rows, a->cols, dtype);
  scl_lua_check_held(L, a);
  scl_matrix_assign(a, out);
  return out;
}

void scl_lua_check_held(lua_State *L, const scl_matrix *a) {
  if (a->storage == NULL) luaL_error(L, "a matrix was released while it was in use");
}

size_t scl_lua_check_place(lua_State *L, int place, size_t count, const char *what) {
  const lua_Number value =
      lua_type(L, place) == LUA_TNUMBER ? lua_tonumber(L, place) : (lua_Number)NAN;
  if (value >= 1 && value <= (double)count && value == floor(value)) return (size_t)value - 1;
  if (lua_type(L, place) != LUA_TNUMBER)
    luaL_error(L, "%s got %s; it takes a whole number from 1 to %I", what, luaL_typename(L, place),
               (LUAI_UACINT)count);
  const char *text = luaL_tolstring(L, place, NULL);
  if (count == 0) luaL_error(L, "%s %s is outside: there are no %ss", what, text, what);
  if (count == 1 && strcmp(what, "row") == 0) /* X[i][j] of a language of lists */
    luaL_error(L, "row %s is outside: there is one row (a number: X:get(i, j))", text);
  luaL_error(L, "%s %s is outside: there are %ss 1 to %I", what, text, what, (LUAI_UACINT)count);
  return 0;
}

bool scl_lua_ends_loop(lua_State *L, int place, size_t count) {
  lua_Debug caller;
  return lua_type(L, place) == LUA_TNUMBER && lua_tonumber(L, place) == (lua_Number)count + 1 &&
         lua_getstack(L, 1, &caller) && lua_getinfo(L, "S", &caller) && *caller.what == 'C';
}

size_t *scl_lua_check_places(lua_State *L, int place, size_t rows, const char *what,
                             size_t *count) {
  const double *given = scl_lua_check_numbers(L, place, "select", count);
  size_t *places = lua_newuserdatauv(L, (*count + 1) * sizeof *places, 0);
  for (size_t i = 0; i < *count; i++) {
    if (given[i] == floor(given[i]) && fabs(given[i]) < 1e15)
      lua_pushinteger(L, (lua_Integer)given[i]); /* for the sentence: 4, not 4.0 */
    else
      lua_pushnumber(L, given[i]);
    places[i] = scl_lua_check_place(L, lua_gettop(L), rows, what);
    lua_pop(L, 1);
  }
  return places;
}

double scl_lua_check_entry(lua_State *L, int place, const char *function, size_t row, size_t col) {
  if (lua_type(L, place) != LUA_TNUMBER)
    luaL_error(L, "%s: row %I, column %I is %s, not a number", function, (LUAI_UACINT)row + 1,
               (LUAI_UACINT)col + 1, luaL_typename(L, place));
  return lua_tonumber(L, place);
}

/* ------------ reading and writing numbers */

static int get_rows(lua_State *L) { return scl_lua_give_size(L, scl_lua_check_matrix(L, 1)->rows); }

/* #X: how many X[i] there are; of X[i], how many X[i][j] */
static int get_length(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  return scl_lua_give_size(L, ((const lua_matrix *)a)->is_row ? a->cols : a->rows);
}

static int get_cols(lua_State *L) { return scl_lua_give_size(L, scl_lua_check_matrix(L, 1)->cols); }
static int get_bytes(lua_State *L) {
  return scl_lua_give_size(L, scl_matrix_bytes(scl_lua_check_matrix(L, 1)));
}

static int get_dtype(lua_State *L) {
  return scl_lua_give_text(L, scl_dtype_name(scl_lua_check_matrix(L, 1)->dtype));
}

/* isfinite() -> true, or false and the first place that is not */
static int is_finite(lua_State *L) {
  size_t i = 0, j = 0;
  if (!scl_matrix_find_nonfinite(scl_lua_check_matrix(L, 1), &i, &j))
    return scl_lua_give_boolean(L, true);
  lua_pushboolean(L, 0);
  lua_pushinteger(L, (lua_Integer)i + 1);
  lua_pushinteger(L, (lua_Integer)j + 1);
  return 3;
}

/* X:get(i, j) -> number */
static int get(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row"),
               j = scl_lua_check_place(L, 3, a->cols, "column");
  return scl_lua_give_number(L, scl_matrix_get(a, i, j));
}

/* X:set(i, j, number) -> X */
static int set(lua_State *L) {
  scl_matrix *a = scl_lua_check_matrix(L, 1);
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row"),
               j = scl_lua_check_place(L, 3, a->cols, "column");
  scl_matrix_set(a, i, j, scl_lua_check_entry(L, 4, "set", i, j));
  lua_settop(L, 1);
  return 1;
}

/* A view of `from` on the stack. */
static void push_view(lua_State *L, const scl_matrix *from, size_t row, size_t rows, size_t col,
                      size_t cols) {
  scl_matrix *view = scl_lua_new_matrix(L);
  scl_lua_check_held(L, from);
  *view = scl_matrix_slice(from, row, rows, col, cols);
}

/* What a name of NumPy is called here; NULL: no such name. */
static const char *called_here(const char *name) {
  static const char *const known[][2] = {{"shape", "X:rows() and X:cols()"},
                                         {"size", "X:rows() and X:cols()"},
                                         {"T", "X:t()"},
                                         {"transpose", "X:t()"},
                                         {"dot", "A * B"},
                                         {"iloc", "X:get(i, j), X:column(j) and X:slice(a, b)"}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strcmp(name, known[i][0]) == 0) return known[i][1];
  return NULL;
}

/* Raise: the class has no method of the name at place 2. */
static int no_method(lua_State *L, const char *noun) {
  enum { MOST = 128 };
  const char *name = lua_tostring(L, 2), *names[MOST];
  size_t count = 0;
  const char *here = name == NULL ? NULL : called_here(name);
  if (here != NULL) return luaL_error(L, "%s has no method '%s' (here it is %s)", noun, name, here);
  for (lua_pushnil(L); lua_next(L, lua_upvalueindex(1)) != 0 && count < MOST; lua_pop(L, 1))
    names[count++] = lua_tostring(L, -2); /* the table keeps it */
  const char *near = scl_nearest(name, names, count);
  if (near == NULL) return luaL_error(L, "%s has no method %s", noun, scl_lua_cut(L, 2, "'"));
  return luaL_error(L, "%s has no method '%s' (did you mean '%s'?)", noun, name, near);
}

/* X[i]: row i as a view, a number when there is one column; X[i][j]: a number */
static int element(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const bool is_row = ((const lua_matrix *)a)->is_row;
  if (scl_lua_ends_loop(L, 2, is_row ? a->cols : a->rows)) return 0;
  if (is_row)
    return scl_lua_give_number(L,
                               scl_matrix_get(a, 0, scl_lua_check_place(L, 2, a->cols, "column")));
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row");
  if (a->cols == 1) return scl_lua_give_number(L, scl_matrix_get(a, i, 0));
  push_view(L, a, i, 1, 0, a->cols);
  ((lua_matrix *)lua_touserdata(L, -1))->is_row = true;
  return 1;
}

/* The list at `place` as a 1 x d matrix on the stack, checked whole before anything is written. */
static const scl_matrix *row_from_list(lua_State *L, int place, size_t i, size_t cols) {
  const size_t length = scl_lua_list_length(L, place, "X[i]");
  if (length != cols)
    luaL_error(L, "row %I takes %I numbers, and got %I", (LUAI_UACINT)i + 1, (LUAI_UACINT)cols,
               (LUAI_UACINT)length);
  scl_matrix *row = scl_lua_make_matrix(L, 1, cols, SCL_DTYPE_FLOAT64);
  for (size_t j = 0; j < cols; j++) {
    lua_rawgeti(L, place, (lua_Integer)j + 1);
    scl_matrix_set(row, 0, j, scl_lua_check_entry(L, -1, "X[i] = list", i, j));
    lua_pop(L, 1);
  }
  return row;
}

/* X[i] = number (one column), list or 1 x d matrix; X[i][j] = number */
static int newindex(lua_State *L) {
  scl_matrix *a = scl_lua_check_matrix(L, 1);
  if (((const lua_matrix *)a)->is_row && lua_type(L, 2) == LUA_TNUMBER) {
    const size_t j = scl_lua_check_place(L, 2, a->cols, "column");
    scl_matrix_set(a, 0, j, scl_lua_check_entry(L, 3, "X[i][j]", 0, j));
    return 0;
  }
  if (lua_type(L, 2) == LUA_TSTRING)
    return luaL_error(L, "a matrix has no field '%s' to set; X[i] = ... sets row i",
                      lua_tostring(L, 2));
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row");
  const scl_matrix *row = scl_lua_test_matrix(L, 3);
  if (row != NULL && (row->rows != 1 || row->cols != a->cols))
    return luaL_error(L, "row %I takes a 1 x %I matrix, and got %I x %I", (LUAI_UACINT)i + 1,
                      (LUAI_UACINT)a->cols, (LUAI_UACINT)row->rows, (LUAI_UACINT)row->cols);
  if (row == NULL && a->cols == 1 && lua_type(L, 3) == LUA_TNUMBER) {
    scl_matrix_set(a, i, 0, lua_tonumber(L, 3));
    return 0;
  }
  if (row != NULL && row->storage == a->storage) { /* the two may overlap: X[2] = X:t()[1] */
    row = scl_lua_copy_matrix(L, row, row->dtype);
  } else if (lua_type(L, 3) == LUA_TTABLE) {
    row = row_from_list(L, 3, i, a->cols);
  } else if (row == NULL) {
    return luaL_error(L, "row %I takes a list or a 1 x %I matrix, and got %s", (LUAI_UACINT)i + 1,
                      (LUAI_UACINT)a->cols, luaL_typename(L, 3));
  }
  scl_lua_check_held(L, a);
  for (size_t j = 0; j < a->cols; j++)
    scl_matrix_set(a, i, j, scl_matrix_get(row, 0, j));
  return 0;
}

/* X:totable() -> list of rows, each a list of numbers. The room is checked first, because Lua's
 * allocator cannot refuse one table of several gigabytes in time. */
static int totable(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const double each = 56 + 16 * (double)a->cols; /* bytes of a row's table */
  scl_lua_check_room(L, ((double)a->rows + 1) * (each + 16), "a table of the matrix");
  lua_createtable(L, (int)scl_min(a->rows, 1 << 20), 0);
  const size_t rows = a->rows;
  for (size_t i = 0; i < rows && !scl_interrupted(); i++) {
    lua_createtable(L, (int)scl_min(a->cols, 1 << 20), 0);
    scl_lua_check_held(L, a);
    for (size_t j = 0; j < a->cols; j++) {
      lua_pushnumber(L, scl_matrix_get(a, i, j));
      lua_rawseti(L, -2, (lua_Integer)j + 1);
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  scl_lua_check_interrupt(L);
  return 1;
}

/* ------------ views and copies */

/* slice(i1, i2[, j1, j2]), both ends included */
static int slice(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const size_t first = scl_lua_check_place(L, 2, a->rows, "row"),
               last = scl_lua_check_place(L, 3, a->rows, "row");
  size_t left = 0, right = a->cols;
  if (!lua_isnoneornil(L, 4)) {
    left = scl_lua_check_place(L, 4, a->cols, "column");
    right = scl_lua_check_place(L, 5, a->cols, "column") + 1;
  }
  if (last < first || right < left || (right == left && a->cols != 0))
    return luaL_error(L, "slice: the end lies before the beginning");
  push_view(L, a, first, last - first + 1, left, right - left);
  return 1;
}

/* X:column(j) -> column j as a view */
static int column(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  push_view(L, a, 0, a->rows, scl_lua_check_place(L, 2, a->cols, "column"), 1);
  return 1;
}

/* X:row(i) -> row i as a view */
static int row(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  push_view(L, a, scl_lua_check_place(L, 2, a->rows, "row"), 1, 0, a->cols);
  return 1;
}

/* X:t() -> the transposed matrix as a view: rows and columns change roles, nothing is copied */
static int transpose(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  scl_matrix *view = scl_lua_new_matrix(L);
  scl_lua_check_held(L, a);
  *view = scl_matrix_transpose(a);
  return 1;
}

/* select(list or n x 1 matrix of row numbers) */
static int select_rows(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  size_t count;
  lua_settop(L, 2);
  const size_t *places = scl_lua_check_places(L, 2, a->rows, "row", &count);
  const scl_matrix *out = scl_lua_make_matrix(L, count, a->cols, a->dtype);
  scl_lua_check_held(L, a);
  scl_matrix_take(a, places, out);
  return 1;
}

/* X:copy() -> a packed matrix of its own */
static int copy(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  (void)scl_lua_copy_matrix(L, a, a->dtype);
  return 1;
}

void scl_lua_call_writer(lua_State *L, const char *name, int absent) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "scullery.core");
  lua_getfield(L, -1, name);
  lua_pushvalue(L, 1);
  for (int k = 0; k < absent; k++)
    lua_pushnil(L);
  lua_pushvalue(L, 2);
  lua_call(L, 2 + absent, 0);
}

/* X:dense() -> X itself, so that a script can treat any matrix as one that may be sparse */
static int dense(lua_State *L) {
  scl_lua_check_matrix(L, 1);
  lua_settop(L, 1);
  return 1;
}

scl_dtype scl_lua_check_new_dtype(lua_State *L) {
  if (lua_type(L, 2) != LUA_TSTRING)
    luaL_error(L, "astype takes \"float64\" or \"float32\", and got %s",
               lua_isnone(L, 2) ? "nothing" : luaL_typename(L, 2));
  return scl_lua_check_dtype(L, 2);
}

/* X:astype("float64" | "float32") -> a copy of that type */
static int astype(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  (void)scl_lua_copy_matrix(L, a, scl_lua_check_new_dtype(L));
  return 1;
}

const char *scl_lua_check_new_path(lua_State *L) {
  if (lua_type(L, 2) != LUA_TSTRING)
    luaL_error(L, "save takes the path of a file, and got %s",
               lua_isnone(L, 2) ? "nothing" : luaL_typename(L, 2));
  return scl_lua_check_path(L, 2);
}

/* X:save("x.npy"), X:save("x.npz") or X:save("x.csv"), through the writers of scullery.core */
static int save(lua_State *L) {
  static const char *const writers[] = {"write_npy", "write_npz", "write_csv"};
  scl_lua_check_matrix(L, 1);
  const char *path = scl_lua_check_new_path(L), *end = strrchr(path, '.');
  size_t format = 0;
  while (format < 3 && (end == NULL || strcmp(end + 1, writers[format] + 6) != 0))
    format++;
  lua_settop(L, 2);
  if (end == path || format == 3)
    return luaL_error(L, "matrix:save: \"%s\" names no .npy, .npz or .csv file", path);
  scl_lua_call_writer(L, writers[format], format == 0 ? 0 : format == 1 ? 2 : 1);
  return 0;
}

/* ------------ printing and comparing */

/* The upper left corner of the matrix, for printing. */
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

/* "matrix 3 x 2 float64" and the upper left corner */
static int tostring(lua_State *L) {
  const scl_matrix *a = luaL_testudata(L, 1, SCL_LUA_MATRIX);
  if (a == NULL) scl_lua_check_matrix(L, 1);
  luaL_Buffer b;
  char text[80];
  luaL_buffinit(L, &b);
  (void)snprintf(text, sizeof text, "matrix %zu x %zu %s", a->rows, a->cols,
                 a->storage == NULL ? "(released)" : scl_dtype_name(a->dtype));
  luaL_addstring(&b, text);
  if (a->storage != NULL && a->cols != 0) add_corner(&b, a);
  luaL_pushresult(&b);
  return 1;
}

/* Same shape and values, whatever the dtype; NaN equals nothing. */
static int equal(lua_State *L) {
  if (scl_lua_test_csr(L, 2) != NULL) return scl_lua_give_boolean(L, scl_lua_equal_sparse(L));
  const scl_matrix *a = scl_lua_test_matrix(L, 1), *b = scl_lua_test_matrix(L, 2);
  return scl_lua_give_boolean(L, a != NULL && b != NULL && scl_matrix_equal(a, b));
}

/* X.name, X[i]: upvalues are the methods, the noun of the class and its element. */
static int index_of(lua_State *L) {
  if (lua_type(L, 2) == LUA_TNUMBER) return lua_tocfunction(L, lua_upvalueindex(3))(L);
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  lua_gettable(L, lua_upvalueindex(1));
  if (lua_isnil(L, -1) && lua_type(L, 2) == LUA_TSTRING)
    return no_method(L, lua_tostring(L, lua_upvalueindex(2)));
  return 1;
}

void scl_lua_add_class(lua_State *L, const scl_lua_class *class) {
  luaL_newmetatable(L, class->name);
  for (size_t i = 0; i < 2 && class->metamethods[i] != NULL; i++)
    luaL_setfuncs(L, class->metamethods[i], 0);
  scl_lua_set_boolean(L, "__metatable", false);
  lua_newtable(L);
  for (size_t i = 0; i < 2 && class->methods[i] != NULL; i++)
    luaL_setfuncs(L, class->methods[i], 0);
  scl_lua_set_boolean(L, "sparse", class->sparse);
  lua_pushvalue(L, -1);
  lua_setfield(L, -4, class->key);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods"); /* for completion and help */
  lua_pushstring(L, class->noun);
  lua_pushcfunction(L, class->element);
  lua_pushcclosure(L, index_of, 3);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

static SCL_LUA_METHODS(metamethods, {"__gc", collect}, {"__close", collect}, {"__len", get_length},
                       {"__newindex", newindex}, {"__tostring", tostring}, {"__eq", equal});
static SCL_LUA_METHODS(methods, {"rows", get_rows}, {"cols", get_cols}, {"dtype", get_dtype},
                       {"bytes", get_bytes}, {"isfinite", is_finite}, {"get", get}, {"set", set},
                       {"slice", slice}, {"column", column}, {"row", row}, {"t", transpose},
                       {"select", select_rows}, {"copy", copy}, {"dense", dense},
                       {"astype", astype}, {"save", save}, {"totable", totable});

const scl_lua_class scl_lua_matrix_class = {SCL_LUA_MATRIX,
                                            "matrix_methods",
                                            "a matrix",
                                            false,
                                            element,
                                            {methods, scl_lua_matrix_math},
                                            {metamethods, scl_lua_matrix_operators}};
