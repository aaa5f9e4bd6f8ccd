#include "lua/define_problem.h"

#include "lua/matrix.h"
#include <math.h>
#include <string.h>

#define PROBLEM "scullery.problem"

static const scl_problem *check_problem(lua_State *L) {
  return ((const scl_defined_problem *)scl_defined_check_view(L, 1, PROBLEM))->problem;
}

static void check(lua_State *L, scl_status status, const scl_error *error) {
  if (status != SCL_STATUS_OK) luaL_error(L, "%s", error->message);
}

/* Memory for numbers, left on the stack. */
static double *room(lua_State *L, size_t rows, size_t cols) {
  scl_lua_check_room(L, 8 * ((double)rows * (double)cols + 1), "numbers of a problem");
  return lua_newuserdatauv(L, (rows * cols + 1) * sizeof(double), 0);
}

/* The matrix at `place`, of so many rows, packed; *cols: its columns. */
static double *packed(lua_State *L, int place, size_t rows, size_t *cols, const char *what) {
  const scl_matrix *a = scl_lua_test_matrix(L, place);
  if (a == NULL)
    luaL_error(L, "%s takes a matrix of %I rows, and got %s", what, (LUAI_UACINT)rows,
               scl_lua_shown(L, place));
  if (a->rows != rows)
    luaL_error(L, "%s takes a matrix of %I rows, and got one of %I", what, (LUAI_UACINT)rows,
               (LUAI_UACINT)a->rows);
  *cols = a->cols;
  double *numbers = room(L, rows, *cols);
  scl_lua_check_held(L, a);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < *cols; j++)
      numbers[i * *cols + j] = scl_matrix_get(a, i, j);
  return numbers;
}

static void push_packed(lua_State *L, const double *numbers, size_t rows, size_t cols) {
  scl_defined_push_matrix(L, numbers, (ptrdiff_t)cols, rows, cols);
}

/* What the host hands out, as a matrix of both triangles. */
static void push_symmetric(lua_State *L, const scl_problem *p, const scl_symmetric *a) {
  const size_t n = p->host->symmetric->order(a);
  const scl_matrix *out = scl_lua_make_matrix(L, n, n, SCL_DTYPE_FLOAT64);
  p->host->symmetric->dense(a, out->data, out->row_stride);
}

/* ------------------------------------------------------------ sums */

static int push_normal(lua_State *L, const scl_problem *p, const scl_normal *sums) {
  lua_createtable(L, 0, 4);
  push_symmetric(L, p, sums->moment);
  lua_setfield(L, -2, "moment");
  push_packed(L, sums->right, p->features, p->targets);
  lua_setfield(L, -2, "right");
  scl_lua_set_list(L, "square", sums->square, p->targets);
  scl_lua_set_number(L, "total", sums->total);
  return 1;
}

static int normal(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_normal sums = {.head = SCL_HEAD(scl_normal)};
  scl_error error = {0};
  check(L, p->normal(p, &sums, &error), &error);
  return push_normal(L, p, &sums);
}

static int reweighted(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_normal sums = {.head = SCL_HEAD(scl_normal)};
  scl_error error = {0};
  double *weights = room(L, p->rows, 1);
  scl_defined_read_numbers(L, 2, p->rows, 1, "the row weights", weights);
  check(L, p->reweighted(p, weights, &sums, &error), &error);
  return push_normal(L, p, &sums);
}

static int dual(lua_State *L) {
  const scl_problem *p = check_problem(L);
  const scl_symmetric *outer;
  const double *targets;
  scl_error error = {0};
  check(L, p->dual(p, &outer, &targets, &error), &error);
  push_symmetric(L, p, outer);
  push_packed(L, targets, p->rows, p->targets);
  return 2;
}

static int gram(lua_State *L) {
  const scl_problem *p = check_problem(L);
  const scl_symmetric *g;
  scl_error error = {0};
  if (!p->has_kernel)
    return luaL_error(L, "gram: these features have no kernel on their parameters");
  check(L, p->gram(p, &g, &error), &error);
  push_symmetric(L, p, g);
  return 1;
}

/* -> targets (n x c), weights (n x 1) */
static int responses(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_error error = {0};
  double *targets = room(L, p->rows, p->targets), *weights = room(L, p->rows, 1);
  check(L, p->responses(p, targets, weights, &error), &error);
  push_packed(L, targets, p->rows, p->targets);
  push_packed(L, weights, p->rows, 1);
  return 2;
}

/* ------------------------------------------------------------ products */

static int product(lua_State *L) {
  const scl_problem *p = check_problem(L);
  size_t k;
  scl_error error = {0};
  const double *a = packed(L, 2, p->features, &k, "product");
  double *out = room(L, p->rows, k);
  check(L, p->product(p, a, k, out, &error), &error);
  push_packed(L, out, p->rows, k);
  return 1;
}

static int adjoint(lua_State *L) {
  const scl_problem *p = check_problem(L);
  size_t k;
  scl_error error = {0};
  const double *r = packed(L, 2, p->rows, &k, "adjoint");
  double *out = room(L, p->features, k);
  check(L, p->adjoint(p, r, k, out, &error), &error);
  push_packed(L, out, p->features, k);
  return 1;
}

typedef struct turning {
  lua_State *L;
  size_t k, targets;
  const scl_rows *rows;
  double *scores;
} turning;

/* function, turning -> ; the function turns scores into residuals */
static int turn_block(lua_State *L) {
  const turning *t = lua_touserdata(L, 2);
  const size_t count = t->rows->count;
  lua_settop(L, 1);
  push_packed(L, t->scores, count, t->k);
  lua_createtable(L, 0, 4);
  scl_lua_set_integer(L, "first", t->rows->first + 1);
  scl_lua_set_integer(L, "count", count);
  if (t->rows->targets != NULL) {
    push_packed(L, t->rows->targets, count, t->targets);
    lua_setfield(L, -2, "y");
  }
  if (t->rows->weights != NULL) {
    push_packed(L, t->rows->weights, count, 1);
    lua_setfield(L, -2, "weights");
  }
  lua_call(L, 2, 1);
  const scl_matrix *made = scl_lua_test_matrix(L, -1);
  if (made == NULL || made->rows != count || made->cols != t->k)
    return luaL_error(L, "the function of sweep returns a %I x %I matrix of residuals",
                      (LUAI_UACINT)count, (LUAI_UACINT)t->k);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < t->k; j++)
      t->scores[i * t->k + j] = scl_matrix_get(made, i, j);
  return 0;
}

/* Nothing jumps out of a turn. */
static scl_status turn(void *context, const scl_rows *rows, double *scores, scl_error *error) {
  turning *t = context;
  lua_State *L = t->L;
  t->rows = rows;
  t->scores = scores;
  if (!lua_checkstack(L, LUA_MINSTACK)) return scl_fail_memory(error, 320, "Lua's stack");
  lua_pushcfunction(L, turn_block);
  lua_pushvalue(L, 3);
  lua_pushlightuserdata(L, t);
  if (lua_pcall(L, 2, 0, 0) == LUA_OK) return SCL_STATUS_OK;
  const char *text = lua_tostring(L, -1);
  const scl_status status =
      scl_fail(error, SCL_STATUS_INTERNAL, "%s", text == NULL ? "an error that is no text" : text);
  lua_pop(L, 1);
  return status;
}

/* problem:sweep(a, f): Phi' f(Phi a, block) in one pass */
static int sweep(lua_State *L) {
  const scl_problem *p = check_problem(L);
  turning t = {.L = L, .targets = p->targets};
  scl_error error = {0};
  luaL_checktype(L, 3, LUA_TFUNCTION);
  const double *a = packed(L, 2, p->features, &t.k, "sweep");
  double *out = room(L, p->features, t.k);
  check(L, p->sweep(p, a, t.k, turn, &t, out, &error), &error);
  push_packed(L, out, p->features, t.k);
  return 1;
}

/* problem:solve(A, B): X of A X = B, A symmetric and positive definite, by Cholesky */
static int solve(lua_State *L) {
  const scl_problem *p = check_problem(L);
  const scl_dense_algebra *dense = p->host->dense;
  size_t order, columns;
  scl_error error = {0};
  const scl_matrix *a = scl_lua_test_matrix(L, 2);
  if (a == NULL || a->rows != a->cols)
    return luaL_error(L, "solve takes a square matrix first, and got %s",
                      a == NULL ? scl_lua_shown(L, 2) : "one that is not square");
  double *factor = packed(L, 2, a->rows, &order, "solve");
  double *right = packed(L, 3, order, &columns, "solve");
  check(L, dense->potrf(order, factor, (ptrdiff_t)order, &error), &error);
  dense->potrs(order, columns, factor, (ptrdiff_t)order, right, (ptrdiff_t)columns);
  push_packed(L, right, order, columns);
  return 1;
}

/* ------------------------------------------------------------ rows */

static int walk(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_defined_visit visit = {L, 2, p->targets};
  scl_error error = {0};
  luaL_checktype(L, 2, LUA_TFUNCTION);
  check(L, p->walk(p, scl_defined_visit_rows, &visit, &error), &error);
  return 0;
}

static size_t field_size(lua_State *L, const char *name, size_t low, size_t high, size_t absent) {
  size_t value = absent;
  if (lua_getfield(L, 2, name) != LUA_TNIL)
    value = scl_lua_check_size(L, lua_gettop(L), low, high, name);
  lua_pop(L, 1);
  return value;
}

/* problem:minibatch({ seed =, step =, size =, first =, count =, plain = }, f) */
static int minibatch(lua_State *L) {
  const scl_problem *p = check_problem(L);
  const size_t most = (size_t)1 << 52;
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  const size_t seed = field_size(L, "seed", 0, most, 0), step = field_size(L, "step", 0, most, 0),
               size = field_size(L, "size", 1, 1 << 24, 64),
               first = field_size(L, "first", 1, p->features, 1),
               count = field_size(L, "count", 1, p->features - first + 1, p->features - first + 1);
  scl_defined_visit visit = {L, 3, p->targets};
  scl_error error = {0};
  check(L,
        p->minibatch(p, seed, step, size, first - 1, count, scl_lua_field_flag(L, 2, "plain"),
                     scl_defined_visit_rows, &visit, &error),
        &error);
  return 0;
}

/* problem:hold_out(share, seed) -> how many rows */
static int hold_out(lua_State *L) {
  const scl_problem *p = check_problem(L);
  size_t count;
  scl_error error = {0};
  const double share = luaL_checknumber(L, 2);
  const size_t seed =
      lua_isnoneornil(L, 3) ? 0 : scl_lua_check_size(L, 3, 0, (size_t)1 << 52, "seed");
  check(L, p->hold_out(p, share, seed, &count, &error), &error);
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}

static int held(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_defined_visit visit = {L, 2, p->targets};
  scl_error error = {0};
  luaL_checktype(L, 2, LUA_TFUNCTION);
  check(L, p->held(p, 0, p->features, scl_defined_visit_rows, &visit, &error), &error);
  return 0;
}

/* problem:progress(doing, done[, loss]) */
static int progress(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_error error = {0};
  check(L,
        p->progress(p, luaL_checkstring(L, 2), luaL_checknumber(L, 3), luaL_optnumber(L, 4, NAN),
                    &error),
        &error);
  return 0;
}

/* ------------------------------------------------------------ the object */

static const luaL_Reg methods[] = {
    {"normal", normal},   {"reweighted", reweighted}, {"dual", dual},
    {"gram", gram},       {"responses", responses},   {"product", product},
    {"adjoint", adjoint}, {"sweep", sweep},           {"solve", solve},
    {"walk", walk},       {"minibatch", minibatch},   {"hold_out", hold_out},
    {"held", held},       {"progress", progress},     {NULL, NULL}};

static void push_fields(lua_State *L, const scl_problem *p) {
  lua_createtable(L, 0, 12);
  SCL_LUA_INTEGERS(L, {"rows", p->rows}, {"features", p->features}, {"targets", p->targets},
                   {"classes", p->classes}, {"parameters", p->parameters},
                   {"allowance", p->allowance});
  scl_lua_set_number(L, "log_scale", p->log_scale);
  scl_lua_set_boolean(L, "has_kernel", p->has_kernel != 0);
  scl_lua_set_boolean(L, "intercept", p->intercept != 0);
  scl_lua_set_text(L, "task", p->task == SCL_TASK_CLASSIFICATION ? "classification" : "regression");
}

/* The methods are upvalue 1. */
static int index(lua_State *L) {
  const scl_defined_problem *view = scl_defined_check_view(L, 1, PROBLEM);
  const scl_problem *p = view->problem;
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  push_fields(L, p);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL) return 1;
  if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "start") != 0)
    return luaL_error(L, "a problem has no %s", scl_lua_shown(L, 2));
  if (view->start == NULL) return 1;
  push_packed(L, view->start, p->features, p->targets);
  return 1;
}

void **scl_defined_push_problem(lua_State *L, const scl_defined_problem *problem) {
  void **view = scl_defined_push_view(L, PROBLEM, methods, index);
  *view = (void *)(uintptr_t)problem;
  return view;
}
