/* Sparse matrices in Lua: sc.matrix.csr, which makes them. */
#include "lua/list.h"
#include "lua/sparse.h"

#include <math.h>

double *scl_lua_check_numbers(lua_State *L, int place, const char *what, size_t *count) {
  const scl_matrix *a = scl_lua_test_matrix(L, place);
  if (a == NULL && lua_type(L, place) != LUA_TTABLE)
    luaL_error(L, "%s takes a list or an n x 1 matrix of numbers, and got %s", what,
               lua_isnoneornil(L, place) ? "nothing" : luaL_typename(L, place));
  if (a == NULL) {
    lua_pushvalue(L, place);
    *count = scl_lua_copy_list(L, lua_gettop(L), SCL_LUA_MOST, what);
    return scl_lua_list_numbers(L, lua_gettop(L), *count, what);
  }
  if (a->cols != 1 && a->rows != 1)
    luaL_error(L, "%s takes a list or an n x 1 matrix of numbers, and got a %I x %I matrix", what,
               (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols);
  const size_t n = a->rows * a->cols;
  scl_lua_check_room(L, (double)n * sizeof(double), what);
  double *numbers = lua_newuserdatauv(L, (n + 1) * sizeof *numbers, 0);
  scl_lua_check_held(L, a);
  for (size_t i = 0; i < n; i++)
    numbers[i] = a->cols == 1 ? scl_matrix_get(a, i, 0) : scl_matrix_get(a, 0, i);
  *count = n;
  return numbers;
}

/* The option `name` of the table at place 1 as a whole number from 0 to `most`; `absent` if it is
 * not given. */
static size_t size_option(lua_State *L, const char *name, size_t most, size_t absent) {
  if (lua_getfield(L, 1, name) == LUA_TNIL && absent == SIZE_MAX)
    luaL_error(L, "matrix.csr: option '%s' is missing", name);
  const size_t value =
      lua_isnil(L, -1) ? absent : scl_lua_check_size(L, lua_gettop(L), 0, most, name);
  lua_pop(L, 1);
  return value;
}

/* The numbers of the option `name`, in a userdata left on the stack. */
static double *numbers_option(lua_State *L, const char *name, size_t *count) {
  const char *what = lua_pushfstring(L, "matrix.csr: option '%s'", name);
  lua_getfield(L, 1, name);
  return scl_lua_check_numbers(L, lua_gettop(L), what, count);
}

/* The number i of the list `name`, less the base; raises unless it is a whole number from the base
 * to `most` plus the base. */
static int64_t place_of(lua_State *L, const char *name, size_t i, double value, size_t base,
                        size_t most) {
  if (value >= (double)base && value <= (double)(most + base) && value == floor(value))
    return (int64_t)value - (int64_t)base;
  if (value == floor(value) && fabs(value) < SCL_LUA_MOST)
    lua_pushinteger(L, (lua_Integer)value); /* shown as 4, not 4.0 */
  else
    lua_pushnumber(L, value);
  return luaL_error(L, "matrix.csr: '%s' has %s at place %I; it takes whole numbers from %I to %I",
                    name, scl_lua_shown(L, -1), (LUAI_UACINT)i + 1, (LUAI_UACINT)base,
                    (LUAI_UACINT)(most + base));
}

/* csr{ rows =, columns =, starts =, indices =, values =, base =, dtype = } */
static int from_arrays(lua_State *L) {
  static const char *const known[] = {"rows",   "columns", "starts", "indices",
                                      "values", "base",    "dtype",  NULL};
  scl_lua_copy_table(L, 1, "matrix.csr");
  scl_lua_check_options(L, 1, "matrix.csr", known);
  size_t n_starts, n_indices, n_values;
  const double *starts = numbers_option(L, "starts", &n_starts);
  const double *indices = numbers_option(L, "indices", &n_indices);
  const double *values = numbers_option(L, "values", &n_values);
  const size_t base = size_option(L, "base", 1, 0),
               cols = size_option(L, "columns", SCL_LUA_SPARSE_COLS, SIZE_MAX),
               rows = size_option(L, "rows", SCL_LUA_SPARSE_MOST, n_starts > 0 ? n_starts - 1 : 0);
  lua_getfield(L, 1, "dtype");
  const scl_dtype dtype = scl_lua_check_dtype(L, lua_gettop(L));
  if (n_starts != rows + 1)
    return luaL_error(L, "matrix.csr: 'starts' has %I numbers; %I rows take %I",
                      (LUAI_UACINT)n_starts, (LUAI_UACINT)rows, (LUAI_UACINT)rows + 1);
  if (n_indices != n_values)
    return luaL_error(L, "matrix.csr: %I indices and %I values", (LUAI_UACINT)n_indices,
                      (LUAI_UACINT)n_values);
  if (place_of(L, "starts", 0, starts[0], base, n_values) != 0 ||
      place_of(L, "starts", rows, starts[rows], base, n_values) != (int64_t)n_values)
    return luaL_error(L,
                      "matrix.csr: 'starts' goes from %I to %I; for %I numbers and base = %I it "
                      "goes from %I to %I",
                      (LUAI_UACINT)starts[0], (LUAI_UACINT)starts[rows], (LUAI_UACINT)n_values,
                      (LUAI_UACINT)base, (LUAI_UACINT)base, (LUAI_UACINT)(n_values + base));
  scl_csr *a = scl_lua_new_csr(L);
  SCL_LUA_TRY(L, scl_csr_create(rows, cols, n_values, dtype, a, &error));
  for (size_t i = 0; i <= rows; i++)
    a->starts[i] = place_of(L, "starts", i, starts[i], base, n_values);
  for (size_t k = 0; k < n_values; k++) {
    if (cols == 0) return luaL_error(L, "matrix.csr: there are indices, and no columns");
    a->columns[k] = (int32_t)place_of(L, "indices", k, indices[k], base, cols - 1);
    scl_set_number(a->values, dtype, k, values[k]);
  }
  scl_error error = {0};
  if (scl_csr_check(a, n_values, &error) != SCL_STATUS_OK) {
    (void)scl_prefix(&error, "matrix.csr");
    return scl_lua_raise(L, &error);
  }
  scl_lua_account(L, scl_csr_bytes(a));
  return 1;
}

/* matrix.csr{ ... } from the arrays; matrix.csr(X[, { dtype = }]) from a dense or sparse matrix */
static int make(lua_State *L) {
  static const char *const known[] = {"dtype", NULL};
  lua_settop(L, 2);
  const scl_csr *sparse =
      luaL_testudata(L, 1, SCL_LUA_SPARSE) != NULL ? scl_lua_check_csr(L, 1) : NULL;
  const scl_matrix *dense = scl_lua_test_matrix(L, 1);
  if (sparse == NULL && dense == NULL && lua_type(L, 1) != LUA_TTABLE)
    return luaL_error(L,
                      "matrix.csr takes { rows =, columns =, starts =, indices =, values = } or "
                      "a matrix, and got %s",
                      luaL_typename(L, 1));
  if (sparse == NULL && dense == NULL) return from_arrays(L);
  scl_lua_check_options(L, 2, "matrix.csr", known);
  scl_dtype dtype = sparse != NULL ? sparse->dtype : dense->dtype;
  if (lua_istable(L, 2) && (lua_pushliteral(L, "dtype"), lua_rawget(L, 2)) != LUA_TNIL)
    dtype = scl_lua_check_dtype(L, lua_gettop(L));
  if (sparse != NULL && sparse->dtype == dtype) {
    lua_pushvalue(L, 1);
    return 1;
  }
  if (sparse == NULL) {
    size_t i, j;
    if (scl_matrix_find_nonfinite(dense, &i, &j))
      return luaL_error(L, "matrix.csr: row %I, column %I is %s: every number must be finite",
                        (LUAI_UACINT)i + 1, (LUAI_UACINT)j + 1,
                        isnan(scl_matrix_get(dense, i, j)) ? "NaN" : "infinite");
    scl_csr *made = scl_lua_new_csr(L);
    scl_lua_check_held(L, dense);
    SCL_LUA_TRY(L, scl_csr_of_matrix(dense, made, &error));
    scl_lua_account(L, scl_csr_bytes(made));
    sparse = scl_lua_check_csr(L, -1);
  }
  if (sparse->dtype == dtype) return 1;
  SCL_LUA_DERIVE_CSR(L, sparse, scl_csr_convert(sparse, dtype, out, &error));
  scl_lua_check_finite_csr(L, scl_lua_check_csr(L, -1), "matrix.csr: the number");
  return 1;
}

static int is_sparse(lua_State *L) {
  return scl_lua_give_boolean(L, scl_lua_test_csr(L, 1) != NULL);
}

/* Whether the value can be X of a data set: a matrix or a sparse matrix. */
static int is_rows(lua_State *L) {
  return scl_lua_give_boolean(L,
                              scl_lua_test_csr(L, 1) != NULL || scl_lua_test_matrix(L, 1) != NULL);
}

/* ------------ several as one */

/* Replaces the argument at `place` by the same as a sparse matrix of that type. */
static void make_sparse(lua_State *L, int place, scl_dtype dtype) {
  lua_pushcfunction(L, make);
  lua_pushvalue(L, place);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, scl_dtype_name(dtype));
  lua_setfield(L, -2, "dtype");
  lua_call(L, 2, 1);
  lua_replace(L, place);
}

/* The type of the result: float32 where all arguments have it. */
static scl_dtype common_dtype(lua_State *L, int count) {
  scl_dtype dtype = SCL_DTYPE_FLOAT32;
  for (int k = 1; k <= count; k++) {
    const scl_csr *a = scl_lua_test_csr(L, k);
    if ((a != NULL ? a->dtype : scl_lua_check_matrix(L, k)->dtype) == SCL_DTYPE_FLOAT64)
      dtype = SCL_DTYPE_FLOAT64;
  }
  return dtype;
}

int scl_lua_concatenate_sparse(lua_State *L, bool across) {
  const int count = lua_gettop(L);
  const char *name = across ? "hcat" : "vcat";
  const scl_dtype dtype = common_dtype(L, count);
  luaL_checkstack(L, 8, name);
  for (int k = 1; k <= count; k++)
    make_sparse(L, k, dtype);
  scl_csr *parts = lua_newuserdatauv(L, (size_t)count * sizeof *parts, 0);
  scl_csr *out = scl_lua_new_csr(L);
  double cols = 0;
  for (int k = 1; k <= count; k++) {
    const scl_csr *a = scl_lua_check_csr(L, k);
    parts[k - 1] = *a; /* borrowed: no Lua code runs until the end */
    cols += (double)a->cols;
    if (across ? a->rows != parts[0].rows : a->cols != parts[0].cols)
      return luaL_error(L, "%s: matrix %d is %I x %I where the first is %I x %I", name, k,
                        (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols, (LUAI_UACINT)parts[0].rows,
                        (LUAI_UACINT)parts[0].cols);
  }
  if (across && cols > (double)SCL_LUA_SPARSE_COLS)
    return luaL_error(L, "hcat: %f columns; a sparse matrix has %I at most", cols,
                      (LUAI_UACINT)SCL_LUA_SPARSE_COLS);
  scl_error error = {0};
  scl_lua_check(L,
                across ? scl_csr_beside(parts, (size_t)count, out, &error)
                       : scl_csr_join(parts, (size_t)count, out, &error),
                &error);
  scl_lua_account(L, scl_csr_bytes(out));
  return 1;
}

SCL_LUA_CALLS(scl_lua_sparse_make_calls, {"csr", make, -1}, {"is_sparse", is_sparse, -1},
              {"is_rows", is_rows, -1});
