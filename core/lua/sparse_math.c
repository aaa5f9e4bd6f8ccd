/* Sparse matrices in Lua: products with a matrix, and reductions by columns and rows. */
#include "lua/sparse.h"

#include "algebra/csr_reduce.h"

#include <math.h>

/* ------------ products */

/* The matrix at `place` in float64 with packed rows; a copy is left on the stack where it needs
 * one. */
static const scl_matrix *packed(lua_State *L, int place) {
  const scl_matrix *a = scl_lua_check_matrix(L, place);
  if (a->dtype == SCL_DTYPE_FLOAT64 && a->col_stride == 1 && (size_t)a->row_stride == a->cols)
    return a;
  return scl_lua_copy_matrix(L, a, SCL_DTYPE_FLOAT64);
}

/* What an operand is, for sentences. */
static const char *shown(lua_State *L, int place) {
  if (luaL_testudata(L, place, SCL_LUA_SPARSE) != NULL) return "a sparse matrix";
  if (luaL_testudata(L, place, SCL_LUA_MATRIX) != NULL) return "a matrix";
  return lua_type(L, place) == LUA_TNUMBER ? "a number" : luaL_typename(L, place);
}

/* factor * A or, of a quotient, A / factor on the stack. `what`: "A * number" and the like. */
static int scaled(lua_State *L, int place, double factor, bool quotient, const char *what) {
  const scl_csr *a = scl_lua_check_csr(L, place);
  if (!isfinite(factor)) return luaL_error(L, "%s: the number must be finite", what);
  SCL_LUA_DERIVE_CSR(L, a, scl_csr_convert(a, a->dtype, out, &error));
  scl_csr *out = scl_lua_check_csr(L, -1);
  scl_csr_scale(out, factor, quotient);
  scl_lua_check_finite_csr(L, out, lua_pushfstring(L, "%s: the result", what));
  lua_pop(L, 1);
  return 1;
}

/* A * B, B a matrix of cols x k; A * number, number * A */
static int product(lua_State *L) {
  if (lua_type(L, 1) == LUA_TNUMBER) return scaled(L, 2, lua_tonumber(L, 1), false, "A * number");
  if (lua_type(L, 2) == LUA_TNUMBER) return scaled(L, 1, lua_tonumber(L, 2), false, "A * number");
  const scl_csr *a = scl_lua_test_csr(L, 1);
  const scl_matrix *b = scl_lua_test_matrix(L, 2);
  if (a == NULL || b == NULL)
    return luaL_error(L,
                      "A * B: a sparse matrix is multiplied by a matrix on its right or by a "
                      "number, and got %s * %s",
                      shown(L, 1), shown(L, 2));
  if (a->cols != b->rows)
    return luaL_error(L, "matrix product: %I x %I times %I x %I: inner sizes %I and %I differ",
                      (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows,
                      (LUAI_UACINT)b->cols, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows);
  const bool narrow = a->dtype == SCL_DTYPE_FLOAT32 && b->dtype == SCL_DTYPE_FLOAT32;
  b = packed(L, 2);
  scl_matrix *out = scl_lua_make_matrix(L, a->rows, b->cols, SCL_DTYPE_FLOAT64);
  scl_lua_check_held_csr(L, a);
  scl_lua_check_held(L, b);
  scl_csr_product_interruptible(a, b->data, b->cols, out->data);
  scl_lua_check_interrupt(L);
  if (narrow) (void)scl_lua_copy_matrix(L, out, SCL_DTYPE_FLOAT32);
  return 1;
}

static int divide(lua_State *L) {
  if (lua_type(L, 2) != LUA_TNUMBER || lua_tonumber(L, 2) == 0)
    return luaL_error(L, "A / number: a sparse matrix is divided by a number that is not 0");
  return scaled(L, 1, lua_tonumber(L, 2), true, "A / number");
}

static int negate(lua_State *L) { return scaled(L, 1, -1, false, "-A"); }

static int no_sum(lua_State *L) {
  return luaL_error(L, "A + B: %s and %s; a sum is not sparse (X:dense() makes X dense)",
                    shown(L, 1), shown(L, 2));
}

/* ------------ reductions */

/* X:name(axis): 1: one number a column, 1 x d; 2: one a row, n x 1; none: one number */
static int reduce(lua_State *L, scl_reducing what, const char *name) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  const size_t axis = scl_lua_opt_size(L, 2, 1, 2, "axis", 0);
  if (what != SCL_SUM && (a->rows == 0 || a->cols == 0))
    return luaL_error(L, "%s: the matrix is empty", name);
  const bool by_column = axis == 1;
  const size_t places = by_column ? a->cols : a->rows;
  scl_matrix *out =
      scl_lua_make_matrix(L, by_column ? 1 : places, by_column ? places : 1, SCL_DTYPE_FLOAT64);
  scl_matrix *counts = scl_lua_make_matrix(L, places, 1, SCL_DTYPE_FLOAT64);
  scl_matrix_fill(out, 0);
  scl_matrix_fill(counts, 0);
  scl_lua_check_held_csr(L, a);
  const double all = scl_csr_reduce(a, what, by_column, out->data, counts->data);
  if (axis == 0) return scl_lua_give_number(L, all);
  lua_pop(L, 1);
  return 1;
}

static int sum(lua_State *L) { return reduce(L, SCL_SUM, "sum"); }
static int mean(lua_State *L) { return reduce(L, SCL_MEAN, "mean"); }
static int least(lua_State *L) { return reduce(L, SCL_LEAST, "min"); }
static int largest(lua_State *L) { return reduce(L, SCL_MOST, "max"); }

/* X:counts(axis) -> how many numbers are stored: 1: in each column, 1 x d; 2: in each row, n x 1 */
static int count_stored(lua_State *L) {
  const scl_csr *a = scl_lua_check_csr(L, 1);
  const bool by_column = scl_lua_check_size(L, 2, 1, 2, "axis") == 1;
  scl_matrix *out =
      scl_lua_make_matrix(L, by_column ? 1 : a->rows, by_column ? a->cols : 1, SCL_DTYPE_FLOAT64);
  scl_matrix_fill(out, 0);
  scl_lua_check_held_csr(L, a);
  scl_csr_count(a, by_column, out->data);
  return 1;
}

/* X:norm() -> the Frobenius norm */
static int norm(lua_State *L) {
  return scl_lua_give_number(L, scl_csr_norm(scl_lua_check_csr(L, 1)));
}

SCL_LUA_METHODS(scl_lua_sparse_math, {"sum", sum}, {"mean", mean}, {"min", least}, {"max", largest},
                {"norm", norm}, {"counts", count_stored});
SCL_LUA_METHODS(scl_lua_sparse_operators, {"__mul", product}, {"__div", divide}, {"__unm", negate},
                {"__add", no_sum}, {"__sub", no_sum});
