/* The Lua matrix: arithmetic, reductions, distances, eigenvalues. Results have the dtype float32
 * only where every matrix that goes in has it. Long work stops at Ctrl-C, and then raises. */
#include "lua/sparse.h"

#include "algebra/arithmetic.h"
#include "algebra/pairs.h"

/* ------------ number by number */

/* The matrix or number at `place`. */
static scl_operand check_operand(lua_State *L, int place, const char *what) {
  const char *side = place == 1 ? "left" : "right";
  const scl_operand matrix = {scl_lua_test_matrix(L, place), 0};
  if (matrix.matrix != NULL) return matrix;
  if (luaL_testudata(L, place, SCL_LUA_MATRIX) != NULL)
    luaL_error(L, "%s: the %s side was released", what, side);
  if (scl_lua_test_csr(L, place) != NULL)
    luaL_error(L, "%s: the %s side is a sparse matrix; X:dense() makes it dense", what, side);
  if (lua_type(L, place) != LUA_TNUMBER)
    luaL_error(L, "%s: the %s side is %s; it takes a matrix or a number", what, side,
               luaL_typename(L, place));
  return (scl_operand){NULL, lua_tonumber(L, place)};
}

/* The operation number by number. One side may be a number. The result is float32 only where all
 * matrices are. */
static int operate(lua_State *L, scl_operation operation, const char *what) {
  const scl_operand left = check_operand(L, 1, what), right = check_operand(L, 2, what);
  const scl_matrix *a = left.matrix, *b = right.matrix;
  if (a == NULL && b == NULL) return luaL_error(L, "%s: neither side is a matrix", what);
  if (a != NULL && b != NULL && (a->rows != b->rows || a->cols != b->cols))
    return luaL_error(L, "%s: %I x %I and %I x %I have different shapes", what,
                      (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows,
                      (LUAI_UACINT)b->cols);
  const scl_matrix *shape = a != NULL ? a : b;
  const bool wide =
      (a != NULL && a->dtype == SCL_DTYPE_FLOAT64) || (b != NULL && b->dtype == SCL_DTYPE_FLOAT64);
  const scl_dtype dtype = wide ? SCL_DTYPE_FLOAT64 : SCL_DTYPE_FLOAT32;
  scl_matrix *out = scl_lua_make_matrix(L, shape->rows, shape->cols, dtype);
  if (a != NULL) scl_lua_check_held(L, a);
  if (b != NULL) scl_lua_check_held(L, b);
  scl_matrix_operate(operation, &left, &right, out);
  scl_lua_check_interrupt(L);
  return 1;
}

static int add(lua_State *L) { return operate(L, SCL_PLUS, "A + B"); }
static int subtract(lua_State *L) { return operate(L, SCL_MINUS, "A - B"); }
static int multiply_elements(lua_State *L) {
  scl_lua_check_matrix(L, 1);
  return operate(L, SCL_TIMES, "A:mul(B)");
}
static int divide_elements(lua_State *L) {
  scl_lua_check_matrix(L, 1);
  return operate(L, SCL_OVER, "A:div(B)");
}

/* A / number. A / B is refused, because it could mean a solution of equations. */
static int divide(lua_State *L) {
  if (scl_lua_test_matrix(L, 2) != NULL)
    return luaL_error(L, "A / B: divide by a number, or elementwise with A:div(B)");
  return operate(L, SCL_OVER, "A:div(B)");
}

/* -A */
static int negate(lua_State *L) {
  lua_settop(L, 1);
  lua_pushnumber(L, -1);
  return operate(L, SCL_TIMES, "A * B");
}

/* A * B: the matrix product, or a matrix times a number */
static int product(lua_State *L) {
  const scl_matrix *a = scl_lua_test_matrix(L, 1), *b = scl_lua_test_matrix(L, 2);
  if (a == NULL || b == NULL) return operate(L, SCL_TIMES, "A * B");
  if (scl_max(scl_max(a->rows, a->cols), b->cols) > SCL_LUA_MATRIX_SIDE)
    return luaL_error(L, "matrix product: more than %I rows or columns",
                      (LUAI_UACINT)SCL_LUA_MATRIX_SIDE);
  if (a->cols != b->rows)
    return luaL_error(L, "matrix product: %I x %I times %I x %I: inner sizes %I and %I differ",
                      (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows,
                      (LUAI_UACINT)b->cols, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows);
  const bool narrow = a->dtype == SCL_DTYPE_FLOAT32 && b->dtype == SCL_DTYPE_FLOAT32;
  const scl_matrix *out =
      scl_lua_make_matrix(L, a->rows, b->cols, narrow ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64);
  scl_lua_check_held(L, a);
  scl_lua_check_held(L, b);
  SCL_LUA_TRY(L, scl_matrix_multiply(a, b, out, &error));
  return 1;
}

/* X:map(f) -> f(x) of each number. f may release X or the result, so both are checked after each
 * call. */
static int map(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  if (lua_type(L, 2) != LUA_TFUNCTION && luaL_getmetafield(L, 2, "__call") == LUA_TNIL)
    return luaL_error(L, "map takes a function of one number, and got %s", luaL_typename(L, 2));
  lua_settop(L, 2);
  scl_matrix *out = scl_lua_make_matrix(L, a->rows, a->cols, a->dtype);
  const size_t rows = a->rows, cols = a->cols;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) {
      lua_pushvalue(L, 2);
      lua_pushnumber(L, scl_matrix_get(scl_lua_check_matrix(L, 1), i, j));
      lua_call(L, 1, 1);
      const double value = lua_tonumber(L, -1);
      if (lua_type(L, -1) != LUA_TNUMBER)
        return luaL_error(
            L, "map: the function returned %s for row %I, column %I; it must return a number",
            luaL_typename(L, -1), (LUAI_UACINT)i + 1, (LUAI_UACINT)j + 1);
      lua_pop(L, 1);
      if (out->storage == NULL) return luaL_error(L, "map: the result was released meanwhile");
      scl_matrix_set(out, i, j, value);
    }
  return 1;
}

/* X:abs() -> |x| of each number */
static int absolute(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  scl_matrix *out = scl_lua_make_matrix(L, a->rows, a->cols, a->dtype);
  scl_lua_check_held(L, a);
  scl_matrix_absolute(a, out);
  scl_lua_check_interrupt(L);
  return 1;
}

/* ------------ reductions */

/* One number of the whole matrix (no axis), of each column (axis 1: 1 x d) or of each row (axis 2:
 * n x 1). Only a sum is defined for no numbers. */
static int reduce(lua_State *L, const char *name, scl_reducing what) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const bool all = lua_isnoneornil(L, 2);
  const size_t axis = all ? 0 : scl_lua_check_size(L, 2, 1, 2, "axis");
  const size_t length = all ? a->rows * a->cols : axis == 1 ? a->rows : a->cols;
  if (length == 0 && what != SCL_SUM)
    return luaL_error(L, "%s of a %I x %I matrix: there are no numbers", name, (LUAI_UACINT)a->rows,
                      (LUAI_UACINT)a->cols);
  if (all) {
    lua_pushnumber(L, scl_matrix_reduce(a, what));
    scl_lua_check_interrupt(L);
    return 1;
  }
  const scl_matrix *out =
      scl_lua_make_matrix(L, axis == 1 ? 1 : a->rows, axis == 1 ? a->cols : 1, SCL_DTYPE_FLOAT64);
  scl_lua_check_held(L, a);
  scl_matrix_reduce_lines(a, what, axis == 1, out->data);
  scl_lua_check_interrupt(L);
  return 1;
}

/* sum, mean, std, min and max take an axis or none. */
static int sum(lua_State *L) { return reduce(L, "sum", SCL_SUM); }
static int mean(lua_State *L) { return reduce(L, "mean", SCL_MEAN); }
static int standard_deviation(lua_State *L) { return reduce(L, "std", SCL_DEVIATION); }
static int least(lua_State *L) { return reduce(L, "min", SCL_LEAST); }
static int most(lua_State *L) { return reduce(L, "max", SCL_MOST); }
/* Places are whole numbers: X:argmax() can be used as an index. */
static int argmax(lua_State *L) {
  (void)reduce(L, "argmax", SCL_ARGMOST);
  lua_Integer place = 0;
  if (lua_type(L, -1) == LUA_TNUMBER && lua_numbertointeger(lua_tonumber(L, -1), &place))
    lua_pushinteger(L, place);
  return 1;
}

/* X:norm() -> the Frobenius norm */
static int norm(lua_State *L) {
  lua_pushnumber(L, scl_matrix_norm(scl_lua_check_matrix(L, 1)));
  scl_lua_check_interrupt(L);
  return 1;
}

/* A:dot(B) -> sum over i, j of a_ij b_ij */
static int dot(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1), *b = scl_lua_check_matrix(L, 2);
  if (a->rows != b->rows || a->cols != b->cols)
    return luaL_error(L, "A:dot(B): %I x %I and %I x %I have different shapes",
                      (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows,
                      (LUAI_UACINT)b->cols);
  lua_pushnumber(L, scl_matrix_dot(a, b));
  scl_lua_check_interrupt(L);
  return 1;
}

/* X:distances([Y]) -> ||x_i - y_j||, n x m */
static int distances(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const scl_matrix *b = lua_isnoneornil(L, 2) ? a : scl_lua_check_matrix(L, 2);
  const scl_matrix *out = scl_lua_make_matrix(L, a->rows, b->rows, SCL_DTYPE_FLOAT64);
  scl_lua_check_held(L, a);
  scl_lua_check_held(L, b);
  SCL_LUA_TRY(L, scl_matrix_distances(a, b, out, &error));
  return 1;
}

/* ------------ eigenvalues (LAPACK) */

/* A:eigvals() -> the eigenvalues of a square matrix: n x 1, or n x 2 (real and imaginary parts)
 * where some are complex */
static int eigvals(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  if (a->rows != a->cols)
    return luaL_error(L, "eigvals: %I x %I is not square", (LUAI_UACINT)a->rows,
                      (LUAI_UACINT)a->cols);
  if (a->rows > 30000)
    return luaL_error(L, "eigvals: order %I is too large (at most 30000)", (LUAI_UACINT)a->rows);
  size_t i, j;
  if (scl_matrix_find_nonfinite(a, &i, &j))
    return luaL_error(L, "eigvals: row %I, column %I is not finite", (LUAI_UACINT)i + 1,
                      (LUAI_UACINT)j + 1);
  const size_t n = a->rows;
  double *imaginary = lua_newuserdatauv(L, (n + 1) * sizeof *imaginary, 0);
  const scl_matrix *out = scl_lua_make_matrix(L, n, 1, SCL_DTYPE_FLOAT64);
  bool complex;
  scl_lua_check_held(L, a);
  SCL_LUA_TRY(L, scl_matrix_eigenvalues(a, out->data, imaginary, &complex, &error));
  if (!complex) return 1;
  const scl_matrix *both = scl_lua_make_matrix(L, n, 2, SCL_DTYPE_FLOAT64);
  scl_lua_check_held(L, out);
  for (size_t k = 0; k < n; k++) {
    ((double *)both->data)[2 * k] = ((const double *)out->data)[k];
    ((double *)both->data)[2 * k + 1] = imaginary[k];
  }
  return 1;
}

SCL_LUA_METHODS(scl_lua_matrix_math, {"mul", multiply_elements}, {"div", divide_elements},
                {"map", map}, {"abs", absolute}, {"sum", sum}, {"mean", mean},
                {"std", standard_deviation}, {"min", least}, {"max", most}, {"argmax", argmax},
                {"norm", norm}, {"dot", dot}, {"distances", distances}, {"eigvals", eigvals});
SCL_LUA_METHODS(scl_lua_matrix_operators, {"__add", add}, {"__sub", subtract}, {"__mul", product},
                {"__div", divide}, {"__unm", negate});
