/* Sparse matrices in Lua: reading, rows, copies, printing. As in matrix.c, a method checks its
 * arguments, allocates its result, and then checks that the arguments are still there. */
#include "lua/sparse.h"
#include "algebra/csr_reduce.h"
#include "base/interrupt.h"
#include "lua/list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------ userdata */

/* __gc and __close. The storage goes when no view uses it any more. */
static int collect(lua_State *L) {
  scl_csr *a = luaL_testudata(L, 1, SCL_LUA_SPARSE);
  if (a != NULL) scl_csr_release(a);
  return 0;
}

scl_csr *scl_lua_new_csr(lua_State *L) {
  scl_csr *a = lua_newuserdatauv(L, sizeof *a, 0);
  memset(a, 0, sizeof *a);
  luaL_setmetatable(L, SCL_LUA_SPARSE);
  return a;
}

scl_csr *scl_lua_test_csr(lua_State *L, int place) {
  scl_csr *a = luaL_testudata(L, place, SCL_LUA_SPARSE);
  return a == NULL || a->storage == NULL ? NULL : a;
}

scl_csr *scl_lua_check_csr(lua_State *L, int place) {
  scl_csr *a = luaL_testudata(L, place, SCL_LUA_SPARSE);
  if (a == NULL) scl_lua_refuse_argument(L, place, SCL_LUA_SPARSE, "sparse matrix");
  if (a->storage == NULL) luaL_error(L, "this sparse matrix was released");
  return a;
}

void scl_lua_check_held_csr(lua_State *L, const scl_csr *a) {
  if (a->storage == NULL) luaL_error(L, "a sparse matrix was released while it was in use");
}

void scl_lua_set_csr(lua_State *L, const char *key, scl_csr *from) {
  scl_csr *out = scl_lua_new_csr(L);
  *out = *from;
  memset(from, 0, sizeof *from);
  scl_lua_account(L, scl_csr_bytes(out));
  lua_setfield(L, -2, key);
}

/* ------------ numbers */

static int get_rows(lua_State *L) { return scl_lua_give_size(L, scl_lua_check_csr(L, 1)->rows); }
static int get_cols(lua_State *L) { return scl_lua_give_size(L, scl_lua_check_csr(L, 1)->cols); }
static int get_entries(lua_State *L) {
  return scl_lua_give_size(L, scl_csr_entries(scl_lua_check_csr(L, 1)));
}
static int get_bytes(lua_State *L) {
  return scl_lua_give_size(L, scl_csr_bytes(scl_lua_check_csr(L, 1)));
}
static int get_dtype(lua_State *L) {
  return scl_lua_give_text(L, scl_dtype_name(scl_lua_check_csr(L, 1)->dtype));
}

/* isfinite() -> true: whatever makes a sparse matrix refuses other numbers */
static int is_finite(lua_State *L) {
  scl_lua_check_csr(L, 1);
  return scl_lua_give_boolean(L, true);
}

void scl_lua_check_finite_csr(lua_State *L, const scl_csr *a, const char *what) {
  size_t i, j;
  if (scl_csr_find_nonfinite(a, &i, &j))
    luaL_error(L, "%s in row %I, column %I is too large for %s", what, (LUAI_UACINT)i + 1,
               (LUAI_UACINT)j + 1, scl_dtype_name(a->dtype));
}

/* X:get(i, j) -> number */
static int get(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row"),
               j = scl_lua_check_place(L, 3, a->cols, "column");
  return scl_lua_give_number(L, scl_csr_get(a, i, j));
}

/* Rows first .. first+rows-1 of `from` as a view on the stack. */
static void push_view(lua_State *L, const scl_csr *from, size_t first, size_t rows) {
  scl_csr *view = scl_lua_new_csr(L);
  scl_lua_check_held_csr(L, from);
  *view = scl_csr_slice(from, first, rows);
}

/* X[i]: row i as a view, a number when there is one column */
static int element(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  if (scl_lua_ends_loop(L, 2, a->rows)) return 0;
  const size_t i = scl_lua_check_place(L, 2, a->rows, "row");
  if (a->cols == 1)
    lua_pushnumber(L, scl_csr_get(a, i, 0));
  else
    push_view(L, a, i, 1);
  return 1;
}

static int newindex(lua_State *L) {
  return luaL_error(L, "a sparse matrix cannot be changed; X:dense() makes a matrix that can");
}

/* X:row(i) -> row i as a view */
static int row(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  push_view(L, a, scl_lua_check_place(L, 2, a->rows, "row"), 1);
  return 1;
}

/* X:column(j) -> column j as an n x 1 matrix */
static int column(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  const size_t j = scl_lua_check_place(L, 2, a->cols, "column");
  scl_matrix *out = scl_lua_make_matrix(L, a->rows, 1, a->dtype);
  scl_lua_check_held_csr(L, a);
  for (size_t i = 0; i < a->rows; i++)
    scl_matrix_set(out, i, 0, scl_csr_get(a, i, j));
  return 1;
}

/* slice(i1, i2[, j1, j2]), both ends included: a view of rows; with columns a copy */
static int slice(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  const size_t first = scl_lua_check_place(L, 2, a->rows, "row"),
               last = scl_lua_check_place(L, 3, a->rows, "row");
  if (last < first) return luaL_error(L, "slice: the end lies before the beginning");
  if (lua_isnoneornil(L, 4)) {
    push_view(L, a, first, last - first + 1);
    return 1;
  }
  const size_t left = scl_lua_check_place(L, 4, a->cols, "column"),
               right = scl_lua_check_place(L, 5, a->cols, "column");
  if (right < left) return luaL_error(L, "slice: the end lies before the beginning");
  push_view(L, a, first, last - first + 1);
  const scl_csr *rows = scl_lua_check_csr(L, -1);
  SCL_LUA_PUSH_CSR(L, scl_csr_columns(rows, left, right - left + 1, out, &error));
  return 1;
}

/* select(list or n x 1 matrix of row numbers) */
static int select_rows(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  size_t count;
  lua_settop(L, 2);
  const size_t *places = scl_lua_check_places(L, 2, a->rows, "row", &count);
  SCL_LUA_DERIVE_CSR(L, a, scl_csr_take(a, places, count, out, &error));
  return 1;
}

/* ------------ copies */

/* X:dense([dtype]) -> the matrix with its zeros */
static int dense(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  const scl_dtype dtype = lua_isnoneornil(L, 2) ? a->dtype : scl_lua_check_dtype(L, 2);
  if (a->rows <= SCL_LUA_MATRIX_SIDE && a->cols <= SCL_LUA_MATRIX_SIDE)
    scl_lua_check_room(L, (double)a->rows * (double)a->cols * (double)scl_dtype_size(dtype),
                       "a dense matrix of these sparse rows");
  scl_matrix *out = scl_lua_make_matrix(L, a->rows, a->cols, dtype);
  scl_lua_check_held_csr(L, a);
  scl_csr_fill(a, 0, a->rows, dtype, out->data, (ptrdiff_t)out->row_stride);
  return 1;
}

/* X:astype("float64" | "float32") -> a copy of that type */
static int astype(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  const scl_dtype dtype = scl_lua_check_new_dtype(L);
  SCL_LUA_DERIVE_CSR(L, a, scl_csr_convert(a, dtype, out, &error));
  scl_lua_check_finite_csr(L, scl_lua_check_csr(L, -1), "astype: the number");
  return 1;
}

/* X:copy() -> a sparse matrix of its own */
static int copy(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  SCL_LUA_DERIVE_CSR(L, a, scl_csr_convert(a, a->dtype, out, &error));
  return 1;
}

/* X:arrays() -> { rows, columns, starts, indices, values }, places from 0, as sc.matrix.csr takes
 * them */
static int arrays(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  const size_t entries = scl_csr_entries(a), rows = a->rows, cols = a->cols;
  lua_settop(L, 1);
  scl_matrix *starts = scl_lua_make_matrix(L, rows + 1, 1, SCL_DTYPE_FLOAT64);
  scl_matrix *indices = scl_lua_make_matrix(L, entries, 1, SCL_DTYPE_FLOAT64);
  scl_matrix *values = scl_lua_make_matrix(L, entries, 1, a->dtype);
  scl_lua_check_held_csr(L, a);
  const int64_t first = a->starts[0];
  for (size_t i = 0; i <= rows; i++)
    scl_matrix_set(starts, i, 0, (double)(a->starts[i] - first));
  for (size_t k = 0; k < entries; k++) {
    scl_matrix_set(indices, k, 0, a->columns[first + (int64_t)k]);
    scl_matrix_set(values, k, 0, scl_csr_value(a, first + (int64_t)k));
  }
  lua_createtable(L, 0, 5);
  SCL_LUA_INTEGERS(L, {"rows", rows}, {"columns", cols});
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, "starts");
  lua_pushvalue(L, 3);
  lua_setfield(L, -2, "indices");
  lua_pushvalue(L, 4);
  lua_setfield(L, -2, "values");
  return 1;
}

/* X:save("x.npz"), as scipy.sparse.save_npz writes it */
static int save(lua_State *L) {
  scl_lua_check_csr(L, 1);
  const char *path = scl_lua_check_new_path(L), *end = strrchr(path, '.');
  lua_settop(L, 2);
  if (end == NULL || end == path || strcmp(end, ".npz") != 0)
    return luaL_error(L,
                      "sparse:save: \"%s\" is not the name of a .npz file (ds:save of a data set "
                      "also writes LIBSVM text)",
                      path);
  scl_lua_call_writer(L, "write_npz", 2);
  return 0;
}

/* ------------ printing and comparing */

/* The first numbers of the first rows, as in LIBSVM's format: the column, from 1, and the number. */
static void add_rows(luaL_Buffer *b, const scl_csr *a) {
  enum { SHOWN = 6 };
  char text[64];
  for (size_t i = 0; i < scl_min(a->rows, SHOWN); i++) {
    (void)snprintf(text, sizeof text, "\n  row %zu:", i + 1);
    luaL_addstring(b, text);
    const int64_t first = a->starts[i], end = a->starts[i + 1];
    for (int64_t k = first; k < end && k < first + SHOWN; k++) {
      (void)snprintf(text, sizeof text, " %lld:%.5g", (long long)a->columns[k] + 1,
                     scl_csr_value(a, k));
      luaL_addstring(b, text);
    }
    if (end - first > SHOWN) luaL_addstring(b, " ...");
  }
  if (a->rows > SHOWN) luaL_addstring(b, "\n  ...");
}

/* "sparse matrix 3 x 5 float64, 4 stored numbers (26.7 % filled)" and the first rows */
static int tostring(lua_State *L) {
  const scl_csr *a = luaL_testudata(L, 1, SCL_LUA_SPARSE);
  if (a == NULL) scl_lua_check_csr(L, 1);
  luaL_Buffer b;
  char text[160];
  luaL_buffinit(L, &b);
  if (a->storage == NULL) {
    luaL_addstring(&b, "sparse matrix (released)");
  } else {
    const size_t entries = scl_csr_entries(a);
    const double places = (double)a->rows * (double)a->cols;
    (void)snprintf(text, sizeof text, "sparse matrix %zu x %zu %s, %zu number%s (%.3g %% filled)",
                   a->rows, a->cols, scl_dtype_name(a->dtype), entries, entries == 1 ? "" : "s",
                   places > 0 ? 100 * (double)entries / places : 0);
    luaL_addstring(&b, text);
    add_rows(&b, a);
  }
  luaL_pushresult(&b);
  return 1;
}

bool scl_lua_equal_sparse(lua_State *L) {
  const int place = scl_lua_test_csr(L, 1) != NULL ? 1 : 2;
  const scl_csr *a = scl_lua_test_csr(L, place), *b = scl_lua_test_csr(L, 3 - place);
  const scl_matrix *m = scl_lua_test_matrix(L, 3 - place);
  if (a == NULL || (b == NULL && m == NULL)) return false;
  return b != NULL ? scl_csr_equal(a, b) : scl_csr_equal_matrix(a, m);
}

static int equal(lua_State *L) { return scl_lua_give_boolean(L, scl_lua_equal_sparse(L)); }

static SCL_LUA_METHODS(metamethods, {"__gc", collect}, {"__close", collect}, {"__len", get_rows},
                       {"__newindex", newindex}, {"__tostring", tostring}, {"__eq", equal});
static SCL_LUA_METHODS(methods, {"rows", get_rows}, {"cols", get_cols}, {"dtype", get_dtype},
                       {"bytes", get_bytes}, {"nnz", get_entries}, {"isfinite", is_finite},
                       {"get", get}, {"row", row}, {"column", column}, {"slice", slice},
                       {"select", select_rows}, {"dense", dense}, {"astype", astype},
                       {"copy", copy}, {"arrays", arrays}, {"save", save});

const scl_lua_class scl_lua_sparse_class = {SCL_LUA_SPARSE,
                                            "sparse_methods",
                                            "a sparse matrix",
                                            true,
                                            element,
                                            {methods, scl_lua_sparse_math},
                                            {metamethods, scl_lua_sparse_operators}};
