/* The Lua matrix: arithmetic, reductions, eigenvalues. */
#include "lua/matrix.h"

#include "algebra/dense.h"
#include "base/pool.h"
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- elementwise */

typedef enum operation { ADD, SUBTRACT, MULTIPLY, DIVIDE, SCALE } operation;
static const char *const operation_names[] = {"A + B", "A - B", "A:mul(B)", "A:div(B)", "A * B"};

static double combine(operation op, double a, double b) {
  switch (op) {
  case ADD:
    return a + b;
  case SUBTRACT:
    return a - b;
  case MULTIPLY:
  case SCALE:
    return a * b;
  default:
    return a / b;
  }
}

/* The matrix at `place`, or NULL and the number there. */
static const scl_matrix *operand(lua_State *L, int place, operation op, double *number) {
  const scl_matrix *a = scl_lua_test_matrix(L, place);
  if (a != NULL) return a;
  if (luaL_testudata(L, place, SCL_LUA_MATRIX) != NULL)
    luaL_error(L, "%s: the %s side was released", operation_names[op],
               place == 1 ? "left" : "right");
  if (lua_type(L, place) != LUA_TNUMBER)
    luaL_error(L, "%s: the %s side is %s; it takes a matrix or a number", operation_names[op],
               place == 1 ? "left" : "right", luaL_typename(L, place));
  *number = lua_tonumber(L, place);
  return NULL;
}

typedef struct elements {
  operation op;
  const scl_matrix *a, *b; /* NULL: the number */
  double left, right;
  scl_matrix *out;
  size_t rows_each;
} elements;

static void combine_rows(void *context, size_t index) {
  const elements *e = context;
  const size_t first = index * e->rows_each, last = scl_min(first + e->rows_each, e->out->rows);
  for (size_t i = first; i < last; i++)
    for (size_t j = 0; j < e->out->cols; j++)
      scl_matrix_set(e->out, i, j,
                     combine(e->op, e->a == NULL ? e->left : scl_matrix_get(e->a, i, j),
                             e->b == NULL ? e->right : scl_matrix_get(e->b, i, j)));
}

/* Rows that make a task worth a thread's while; depends on the shape alone. */
static size_t rows_per_task(size_t cols) {
  return scl_max(1, ((size_t)1 << 16) / scl_max(1, cols));
}

static int elementwise(lua_State *L, operation op) {
  double left = 0, right = 0;
  const scl_matrix *a = operand(L, 1, op, &left), *b = operand(L, 2, op, &right);
  if (a == NULL && b == NULL)
    return luaL_error(L, "%s: neither side is a matrix", operation_names[op]);
  if (a != NULL && b != NULL && (a->rows != b->rows || a->cols != b->cols))
    return luaL_error(L, "%s: %I x %I and %I x %I have different shapes", operation_names[op],
                      (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows,
                      (LUAI_UACINT)b->cols);
  const scl_matrix *shape = a != NULL ? a : b;
  const scl_dtype dtype =
      (a == NULL || a->dtype == SCL_DTYPE_FLOAT32) && (b == NULL || b->dtype == SCL_DTYPE_FLOAT32)
          ? SCL_DTYPE_FLOAT32
          : SCL_DTYPE_FLOAT64;
  scl_matrix *out = scl_lua_make_matrix(L, shape->rows, shape->cols, dtype);
  if (a != NULL) scl_lua_check_held(L, a);
  if (b != NULL) scl_lua_check_held(L, b);
  elements e = {op, a, b, left, right, out, rows_per_task(out->cols)};
  scl_pool_run((out->rows + e.rows_each - 1) / e.rows_each, combine_rows, &e);
  return 1;
}

static int add(lua_State *L) {
  return elementwise(L, ADD);
}
static int subtract(lua_State *L) {
  return elementwise(L, SUBTRACT);
}
static int multiply_elements(lua_State *L) {
  return elementwise(L, MULTIPLY);
}
static int divide_elements(lua_State *L) {
  return elementwise(L, DIVIDE);
}

static int divide(lua_State *L) {
  if (scl_lua_test_matrix(L, 2) != NULL)
    return luaL_error(L, "A / B: divide by a number, or elementwise with A:div(B)");
  return elementwise(L, DIVIDE);
}

static int negate(lua_State *L) {
  lua_settop(L, 1);
  lua_pushnumber(L, -1);
  return elementwise(L, SCALE);
}

/* Whether cblas can read it: rows of adjacent numbers, as they are or transposed. */
static bool readable(const scl_matrix *a, bool *transposed, ptrdiff_t *leading) {
  *transposed = a->col_stride != 1 && a->row_stride == 1;
  *leading = *transposed ? a->col_stride : a->row_stride;
  const size_t width = *transposed ? a->rows : a->cols;
  return (*transposed || a->col_stride == 1) && *leading >= (ptrdiff_t)width &&
         *leading <= INT32_MAX;
}

/* The matrix at `place` in this dtype in a form that cblas reads: itself, or a copy left on the
 * stack. */
static const scl_matrix *prepared(lua_State *L, const scl_matrix *a, scl_dtype dtype,
                                  bool *transposed, ptrdiff_t *leading) {
  if (a->dtype == dtype && readable(a, transposed, leading)) return a;
  scl_matrix *copy = scl_lua_make_matrix(L, a->rows, a->cols, dtype);
  scl_lua_check_held(L, a);
  scl_matrix_assign(a, copy);
  (void)readable(copy, transposed, leading);
  return copy;
}

static int product(lua_State *L) {
  const scl_matrix *a = scl_lua_test_matrix(L, 1), *b = scl_lua_test_matrix(L, 2);
  if (a == NULL || b == NULL) return elementwise(L, SCALE);
  if (scl_max(scl_max(a->rows, a->cols), b->cols) > SCL_LUA_MATRIX_SIDE)
    return luaL_error(L, "matrix product: more than %I rows or columns",
                      (LUAI_UACINT)SCL_LUA_MATRIX_SIDE);
  if (a->cols != b->rows)
    return luaL_error(L, "matrix product: %I x %I times %I x %I: inner sizes %I and %I differ",
                      (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows,
                      (LUAI_UACINT)b->cols, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows);
  const scl_dtype dtype = a->dtype == SCL_DTYPE_FLOAT32 && b->dtype == SCL_DTYPE_FLOAT32
                              ? SCL_DTYPE_FLOAT32
                              : SCL_DTYPE_FLOAT64;
  bool transpose_a, transpose_b;
  ptrdiff_t lda, ldb;
  const scl_matrix *left = prepared(L, a, dtype, &transpose_a, &lda),
                   *right = prepared(L, b, dtype, &transpose_b, &ldb);
  const scl_matrix *out = scl_lua_make_matrix(L, a->rows, b->cols, dtype);
  scl_lua_check_held(L, left);
  scl_lua_check_held(L, right);
  if (left->cols == 0)
    memset(out->data, 0, out->rows * out->cols * scl_dtype_size(dtype));
  else
    scl_gemm_parallel(dtype, transpose_a, transpose_b, left->rows, right->cols, left->cols, 1,
                      left->data, lda, right->data, ldb, 0, out->data, out->row_stride);
  return 1;
}

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
      lua_pushnumber(L, scl_matrix_get(scl_lua_check_matrix(L, 1), i,
                                       j)); /* checked again: the function may have released it */
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

static int absolute(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  scl_matrix *out = scl_lua_make_matrix(L, a->rows, a->cols, a->dtype);
  scl_lua_check_held(L, a);
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      scl_matrix_set(out, i, j, fabs(scl_matrix_get(a, i, j)));
  return 1;
}

/* ---------------------------------------------------------------- reductions along a line of
 * numbers */

typedef struct run {
  const scl_matrix *a;
  size_t row, col, count;
  bool down; /* along a column */
} run;

static double at(const run *r, size_t i) {
  return r->down ? scl_matrix_get(r->a, i, r->col) : scl_matrix_get(r->a, r->row, i);
}

/* Sum of the numbers, or of their squared distances from `centre`; pairwise, so that errors grow
 * with log n. */
static double sum_part(const run *r, size_t first, size_t count, const double *centre) {
  if (count > 64)
    return sum_part(r, first, count / 2, centre) +
           sum_part(r, first + count / 2, count - count / 2, centre);
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double value = at(r, first + i);
    sum += centre == NULL ? value : (value - *centre) * (value - *centre);
  }
  return sum;
}

static double run_sum(const run *r) {
  return sum_part(r, 0, r->count, NULL);
}
static double run_mean(const run *r) {
  return run_sum(r) / (double)r->count;
}

static double run_std(const run *r) {
  const double mean = run_mean(r);
  return sqrt(sum_part(r, 0, r->count, &mean) / (double)r->count);
}

static double run_min(const run *r) {
  double least = at(r, 0);
  for (size_t i = 1; i < r->count; i++)
    least = at(r, i) < least || isnan(at(r, i)) ? at(r, i) : least;
  return least;
}

static double run_max(const run *r) {
  double most = at(r, 0);
  for (size_t i = 1; i < r->count; i++)
    most = at(r, i) > most || isnan(at(r, i)) ? at(r, i) : most;
  return most;
}

static double run_argmax(const run *r) {
  size_t place = 0;
  for (size_t i = 1; i < r->count; i++)
    if (at(r, i) > at(r, place)) place = i;
  return (double)place + 1;
}

/* All numbers of a matrix as one run needs a row: a view where rows follow each other, else a copy
 * on the stack. */
static scl_matrix as_row(lua_State *L, const scl_matrix *a) {
  scl_matrix flat = *a;
  if (!(a->col_stride == 1 && a->row_stride == (ptrdiff_t)a->cols)) {
    scl_matrix *copy = scl_lua_make_matrix(L, a->rows, a->cols, a->dtype);
    scl_lua_check_held(L, a);
    scl_matrix_assign(a, copy);
    flat = *copy;
  }
  flat.cols = a->rows * a->cols;
  flat.rows = 1;
  return flat;
}

typedef struct lines {
  const scl_matrix *a;
  double (*f)(const run *);
  double *out;
  size_t length, count, each;
  bool down;
} lines;

static void reduce_lines(void *context, size_t index) {
  const lines *l = context;
  const size_t last = scl_min((index + 1) * l->each, l->count);
  for (size_t k = index * l->each; k < last; k++) {
    const run r = {l->a, k, k, l->length, l->down};
    l->out[k] = l->f(&r);
  }
}

static int reduce(lua_State *L, const char *name, double (*f)(const run *), bool empty_is_zero) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const bool all = lua_isnoneornil(L, 2);
  const size_t axis = all ? 0 : scl_lua_check_size(L, 2, 1, 2, "axis");
  const size_t length = all ? a->rows * a->cols : axis == 1 ? a->rows : a->cols;
  if (length == 0 && !empty_is_zero)
    return luaL_error(L, "%s of a %I x %I matrix: there are no numbers", name, (LUAI_UACINT)a->rows,
                      (LUAI_UACINT)a->cols);
  if (all) {
    const scl_matrix flat = as_row(L, a);
    const run r = {&flat, 0, 0, length, false};
    lua_pushnumber(L, f(&r));
    return 1;
  }
  const size_t count = axis == 1 ? a->cols : a->rows;
  const scl_matrix *out =
      scl_lua_make_matrix(L, axis == 1 ? 1 : count, axis == 1 ? count : 1, SCL_DTYPE_FLOAT64);
  scl_lua_check_held(L, a);
  lines l = {a, f, out->data, length, count, rows_per_task(length), axis == 1};
  scl_pool_run((count + l.each - 1) / l.each, reduce_lines, &l);
  return 1;
}

static int sum(lua_State *L) {
  return reduce(L, "sum", run_sum, true);
}
static int mean(lua_State *L) {
  return reduce(L, "mean", run_mean, false);
}
static int standard_deviation(lua_State *L) {
  return reduce(L, "std", run_std, false);
}
static int least(lua_State *L) {
  return reduce(L, "min", run_min, false);
}
static int most(lua_State *L) {
  return reduce(L, "max", run_max, false);
}
/* Places are whole numbers: X:argmax() can be used as an index. */
static int argmax(lua_State *L) {
  (void)reduce(L, "argmax", run_argmax, false);
  lua_Integer place = 0;
  if (lua_type(L, -1) == LUA_TNUMBER && lua_numbertointeger(lua_tonumber(L, -1), &place))
    lua_pushinteger(L, place);
  return 1;
}

/* Scaled, so that no square overflows. */
static int norm(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  double largest = 0, squares = 0;
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++) {
      const double value = fabs(scl_matrix_get(a, i, j));
      if (isnan(value) || value > largest) largest = value;
    }
  for (size_t i = 0; largest > 0 && isfinite(largest) && i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      squares += (scl_matrix_get(a, i, j) / largest) * (scl_matrix_get(a, i, j) / largest);
  lua_pushnumber(L, largest > 0 && isfinite(largest) ? largest * sqrt(squares) : largest);
  return 1;
}

/* Products of rows [first, first + count), pairwise over rows and within them as written. */
static double dot_rows(const scl_matrix *a, const scl_matrix *b, size_t first, size_t count) {
  if (count > 1)
    return dot_rows(a, b, first, count / 2) + dot_rows(a, b, first + count / 2, count - count / 2);
  double total = 0;
  for (size_t j = 0; count == 1 && j < a->cols; j++)
    total += scl_matrix_get(a, first, j) * scl_matrix_get(b, first, j);
  return total;
}

static int dot(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1), *b = scl_lua_check_matrix(L, 2);
  if (a->rows != b->rows || a->cols != b->cols)
    return luaL_error(L, "A:dot(B): %I x %I and %I x %I have different shapes",
                      (LUAI_UACINT)a->rows, (LUAI_UACINT)a->cols, (LUAI_UACINT)b->rows,
                      (LUAI_UACINT)b->cols);
  lua_pushnumber(L, dot_rows(a, b, 0, a->rows));
  return 1;
}

/* ---------------------------------------------------------------- eigenvalues (LAPACK) */

static bool is_symmetric(const scl_matrix *a) {
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < i; j++)
      if (scl_matrix_get(a, i, j) != scl_matrix_get(a, j, i)) return false;
  return true;
}

static int eigvals(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  if (a->rows != a->cols)
    return luaL_error(L, "eigvals: %I x %I is not square", (LUAI_UACINT)a->rows,
                      (LUAI_UACINT)a->cols);
  if (a->rows > 30000)
    return luaL_error(L, "eigvals: order %I is too large (at most 30000)", (LUAI_UACINT)a->rows);
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      if (!isfinite(scl_matrix_get(a, i, j)))
        return luaL_error(L, "eigvals: row %I, column %I is not finite", (LUAI_UACINT)i + 1,
                          (LUAI_UACINT)j + 1);
  const size_t n = a->rows;
  scl_matrix *copy = scl_lua_make_matrix(L, n, n, SCL_DTYPE_FLOAT64);
  double *work = lua_newuserdatauv(L, (65 * n + 1) * sizeof *work, 0), *imaginary = work + 64 * n;
  const scl_matrix *out = scl_lua_make_matrix(L, n, 1, SCL_DTYPE_FLOAT64);
  scl_lua_check_held(L, a);
  scl_lua_check_held(L, copy);
  scl_matrix_assign(a, copy);
  const bool symmetric = is_symmetric(a);
  if (!scl_eigenvalues(symmetric, n, copy->data, out->data, imaginary, work))
    return luaL_error(L, "eigvals: no convergence");
  bool real = true;
  for (size_t i = 0; !symmetric && i < n; i++)
    real = real && imaginary[i] == 0;
  if (real) return 1;
  const scl_matrix *both = scl_lua_make_matrix(L, n, 2, SCL_DTYPE_FLOAT64);
  scl_lua_check_held(L, out);
  for (size_t i = 0; i < n; i++) {
    ((double *)both->data)[2 * i] = ((const double *)out->data)[i];
    ((double *)both->data)[2 * i + 1] = imaginary[i];
  }
  return 1;
}

void scl_lua_add_matrix_math(lua_State *L, int methods, int metatable) {
  static const luaL_Reg functions[] = {{"mul", multiply_elements},
                                       {"div", divide_elements},
                                       {"map", map},
                                       {"abs", absolute},
                                       {"sum", sum},
                                       {"mean", mean},
                                       {"std", standard_deviation},
                                       {"min", least},
                                       {"max", most},
                                       {"argmax", argmax},
                                       {"norm", norm},
                                       {"dot", dot},
                                       {"eigvals", eigvals},
                                       {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__add", add},    {"__sub", subtract}, {"__mul", product},
                                  {"__div", divide}, {"__unm", negate},   {NULL, NULL}};
  lua_pushvalue(L, methods);
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
  lua_pushvalue(L, metatable);
  luaL_setfuncs(L, meta, 0);
  lua_pop(L, 1);
}
