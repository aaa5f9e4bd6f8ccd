/* The object `problem` of a solver that a script defines: its methods call the problem of the host,
 * and copy numbers to and from matrices. Phi is the n x D matrix of features, Y the n x c targets.
 * Every method checks that the problem can still be used: a script may keep the object. */
#include "define/problem.h"

#include "lua/matrix.h"
#include <math.h>
#include <string.h>

#define PROBLEM "scullery.problem"

/* The problem of the object at place 1; raises an error if its solve has ended. */
static const scl_problem *check_problem(lua_State *L) {
  return ((const scl_defined_problem *)scl_defined_check_view(L, 1, PROBLEM))->problem;
}

/* Memory for rows x cols numbers: a userdata left on the stack, so that an error frees it. */
static double *new_numbers(lua_State *L, size_t rows, size_t cols) {
  scl_lua_check_room(L, 8 * ((double)rows * (double)cols + 1), "numbers of a problem");
  return lua_newuserdatauv(L, (rows * cols + 1) * sizeof(double), 0);
}

/* A copy of the matrix at `place`, which must have `rows` rows, without gaps; *cols: its columns.
 * The memory is left on the stack. */
static double *read_packed(lua_State *L, int place, size_t rows, size_t *cols, const char *what) {
  const scl_matrix *a = scl_lua_test_matrix(L, place);
  if (a == NULL)
    luaL_error(L, "%s takes a matrix of %I rows, and got %s", what, (LUAI_UACINT)rows,
               scl_lua_shown(L, place));
  if (a->rows != rows)
    luaL_error(L, "%s takes a matrix of %I rows, and got one of %I", what, (LUAI_UACINT)rows,
               (LUAI_UACINT)a->rows);
  *cols = a->cols;
  double *numbers = new_numbers(L, rows, *cols);
  scl_lua_check_held(L, a);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < *cols; j++)
      numbers[i * *cols + j] = scl_matrix_get(a, i, j);
  return numbers;
}

/* Push a matrix with a copy of rows x cols numbers without gaps. */
static void push_packed(lua_State *L, const double *numbers, size_t rows, size_t cols) {
  scl_defined_push_matrix(L, numbers, (ptrdiff_t)cols, rows, cols);
}

/* Push a symmetric matrix of the host as a dense one, with both triangles. */
static void push_symmetric(lua_State *L, const scl_problem *p, const scl_symmetric *a) {
  const size_t n = p->host->symmetric->order(a);
  const scl_matrix *out = scl_lua_make_matrix(L, n, n, SCL_DTYPE_FLOAT64);
  p->host->symmetric->dense(a, out->data, out->row_stride);
}

/* ------------ sums */

/* { moment = Phi'W Phi (D x D), right = Phi'W Y (D x c), square = Y'W Y of each target, total = sum
 * of the row weights } */
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

/* problem:normal() -> the sums of the normal equations, with the weights of the fit */
static int problem_normal(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_normal sums = {.head = SCL_HEAD(scl_normal)};
  SCL_LUA_TRY(L, p->normal(p, &sums, &error));
  return push_normal(L, p, &sums);
}

/* problem:reweighted(w) -> the same sums with other row weights, n of them */
static int problem_reweighted(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_normal sums = {.head = SCL_HEAD(scl_normal)};
  double *weights = new_numbers(L, p->rows, 1);
  scl_defined_read_numbers(L, 2, p->rows, 1, "the row weights", weights);
  SCL_LUA_TRY(L, p->reweighted(p, weights, &sums, &error));
  return push_normal(L, p, &sums);
}

/* problem:dual() -> Phi Phi' (n x n), Y (n x c): for fewer rows than features */
static int problem_dual(lua_State *L) {
  const scl_problem *p = check_problem(L);
  const scl_symmetric *outer;
  const double *targets;
  SCL_LUA_TRY(L, p->dual(p, &outer, &targets, &error));
  push_symmetric(L, p, outer);
  push_packed(L, targets, p->rows, p->targets);
  return 2;
}

/* problem:gram() -> G, D x D: the kernel between the parameters, for the penalty a'Ga */
static int problem_gram(lua_State *L) {
  const scl_problem *p = check_problem(L);
  const scl_symmetric *g;
  if (!p->has_kernel)
    return luaL_error(L, "gram: these features have no kernel on their parameters");
  SCL_LUA_TRY(L, p->gram(p, &g, &error));
  push_symmetric(L, p, g);
  return 1;
}

/* problem:responses() -> targets (n x c), weights (n x 1) */
static int problem_responses(lua_State *L) {
  const scl_problem *p = check_problem(L);
  double *targets = new_numbers(L, p->rows, p->targets), *weights = new_numbers(L, p->rows, 1);
  SCL_LUA_TRY(L, p->responses(p, targets, weights, &error));
  push_packed(L, targets, p->rows, p->targets);
  push_packed(L, weights, p->rows, 1);
  return 2;
}

/* problem:total(values) -> the exact sums of the columns, each rounded once, of any number of
 * rows */
static int problem_total(lua_State *L) {
  const scl_problem *p = check_problem(L);
  const scl_matrix *a = scl_lua_test_matrix(L, 2);
  if (a == NULL) return luaL_error(L, "total takes a matrix, and got %s", scl_lua_shown(L, 2));
  size_t k;
  const double *values = read_packed(L, 2, a->rows, &k, "total");
  double *sums = new_numbers(L, 1, k);
  SCL_LUA_TRY(L, p->total(p, values, a->rows, k, sums, &error));
  push_packed(L, sums, 1, k);
  return 1;
}

/* ------------ products */

/* product(a): Phi a (n x k) for a of D x k; adjoint(r): Phi' r (D x k) for r of n x k */
static int multiply(lua_State *L, bool adjoint) {
  const scl_problem *p = check_problem(L);
  const size_t from = adjoint ? p->rows : p->features, to = adjoint ? p->features : p->rows;
  size_t k;
  const double *a = read_packed(L, 2, from, &k, adjoint ? "adjoint" : "product");
  double *out = new_numbers(L, to, k);
  SCL_LUA_TRY(L, (adjoint ? p->adjoint : p->product)(p, a, k, out, &error));
  push_packed(L, out, to, k);
  return 1;
}

static int problem_product(lua_State *L) { return multiply(L, false); }
static int problem_adjoint(lua_State *L) { return multiply(L, true); }

/* A sweep: Phi' f(Phi a), where the function f of a script turns the scores of each block into
 * residuals. */
typedef struct turning {
  lua_State *L;
  size_t k, targets; /* columns of the scores and of Y */
  const scl_rows *rows;
  double *scores;
} turning;

/* Called with the function and the light userdata of a turning: calls function(scores, block), and
 * replaces the scores (count x k) of the block by the residuals that it returns. */
static int turn_block(lua_State *L) {
  const turning *t = lua_touserdata(L, 2);
  const size_t count = t->rows->count;
  lua_settop(L, 1);
  push_packed(L, t->scores, count, t->k);
  lua_createtable(L, 0, 4);
  SCL_LUA_INTEGERS(L, {"first", t->rows->first + 1}, {"count", count});
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

/* The turn of one block, which the engine calls in the middle of a sweep: an error of Lua becomes a
 * status. The function is at place 3, the third argument of sweep. */
static scl_status turn_rows(void *context, const scl_rows *rows, double *scores, scl_error *error) {
  turning *t = context;
  lua_State *L = t->L;
  t->rows = rows;
  t->scores = scores;
  if (!lua_checkstack(L, LUA_MINSTACK)) return scl_fail_memory(error, 320, "Lua's stack");
  lua_pushcfunction(L, turn_block);
  lua_pushvalue(L, 3);
  lua_pushlightuserdata(L, t);
  return scl_defined_protected(L, 2, error);
}

/* problem:sweep(a, f): Phi' f(Phi a, block) in one pass */
static int problem_sweep(lua_State *L) {
  const scl_problem *p = check_problem(L);
  turning t = {.L = L, .targets = p->targets};
  luaL_checktype(L, 3, LUA_TFUNCTION);
  const double *a = read_packed(L, 2, p->features, &t.k, "sweep");
  double *out = new_numbers(L, p->features, t.k);
  SCL_LUA_TRY(L, p->sweep(p, a, t.k, turn_rows, &t, out, &error));
  push_packed(L, out, p->features, t.k);
  return 1;
}

/* problem:solve(A, B) -> X of A X = B, A symmetric and positive definite, by Cholesky. Fails if A
 * is not positive definite. */
static int problem_solve(lua_State *L) {
  const scl_problem *p = check_problem(L);
  const scl_dense_algebra *dense = p->host->dense;
  size_t order, columns;
  const scl_matrix *a = scl_lua_test_matrix(L, 2);
  if (a == NULL || a->rows != a->cols)
    return luaL_error(L, "solve takes a square matrix first, and got %s",
                      a == NULL ? scl_lua_shown(L, 2) : "one that is not square");
  double *factor = read_packed(L, 2, a->rows, &order, "solve");
  double *right = read_packed(L, 3, order, &columns, "solve");
  SCL_LUA_TRY(L, dense->potrf(order, factor, (ptrdiff_t)order, &error));
  dense->potrs(order, columns, factor, (ptrdiff_t)order, right, (ptrdiff_t)columns);
  push_packed(L, right, order, columns);
  return 1;
}

/* ------------ rows */

/* problem:walk(f): f(block) for each block of rows, in one pass */
static int problem_walk(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_defined_visit visit = {L, 2, p->targets};
  luaL_checktype(L, 2, LUA_TFUNCTION);
  SCL_LUA_TRY(L, p->walk(p, scl_defined_visit_rows, &visit, &error));
  return 0;
}

/* problem:minibatch({ seed =, step =, size =, first =, count =, plain = }, f): f(block) for the
 * rows of a random batch, with the features first .. first+count-1 (from 1). */
static int problem_minibatch(lua_State *L) {
  const scl_problem *p = check_problem(L);
  const size_t most = (size_t)1 << 52;
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  const size_t seed = scl_lua_field_size(L, 2, "seed", 0, most, 0),
               step = scl_lua_field_size(L, 2, "step", 0, most, 0),
               size = scl_lua_field_size(L, 2, "size", 1, 1 << 24, 64),
               first = scl_lua_field_size(L, 2, "first", 1, p->features, 1),
               count = scl_lua_field_size(L, 2, "count", 1, p->features - first + 1,
                                          p->features - first + 1);
  scl_defined_visit visit = {L, 3, p->targets};
  SCL_LUA_TRY(L,
              p->minibatch(p, seed, step, size, first - 1, count, scl_lua_field_flag(L, 2, "plain"),
                           scl_defined_visit_rows, &visit, &error));
  return 0;
}

/* problem:hold_out(share, seed) -> how many rows were set apart */
static int problem_hold_out(lua_State *L) {
  const scl_problem *p = check_problem(L);
  size_t count;
  const double share = luaL_checknumber(L, 2);
  const size_t seed = scl_lua_opt_size(L, 3, 0, (size_t)1 << 52, "seed", 0);
  SCL_LUA_TRY(L, p->hold_out(p, share, seed, &count, &error));
  return scl_lua_give_size(L, count);
}

/* problem:held(f): f(block) for each block of the rows that hold_out set apart */
static int problem_held(lua_State *L) {
  const scl_problem *p = check_problem(L);
  scl_defined_visit visit = {L, 2, p->targets};
  luaL_checktype(L, 2, LUA_TFUNCTION);
  SCL_LUA_TRY(L, p->held(p, 0, p->features, scl_defined_visit_rows, &visit, &error));
  return 0;
}

/* problem:progress(doing, done[, loss]): report progress; raises an error at Ctrl-C */
static int problem_progress(lua_State *L) {
  const scl_problem *p = check_problem(L);
  SCL_LUA_TRY(L, p->progress(p, luaL_checkstring(L, 2), luaL_checknumber(L, 3),
                             luaL_optnumber(L, 4, NAN), &error));
  return 0;
}

/* ------------ the object */

static const luaL_Reg methods[] = {
    {"normal", problem_normal},       {"reweighted", problem_reweighted},
    {"dual", problem_dual},           {"gram", problem_gram},
    {"responses", problem_responses}, {"product", problem_product},
    {"adjoint", problem_adjoint},     {"sweep", problem_sweep},
    {"solve", problem_solve},         {"walk", problem_walk},
    {"minibatch", problem_minibatch}, {"hold_out", problem_hold_out},
    {"held", problem_held},           {"progress", problem_progress},
    {"total", problem_total},         {NULL, NULL}};

/* __index of a problem: a method (the table of methods is upvalue 1), or a field, which is read
 * from the problem at each access. `start` is a copy of the coefficients to start from, or nil. */
static int index_problem(lua_State *L) {
  const scl_defined_problem *view = scl_defined_check_view(L, 1, PROBLEM);
  const scl_problem *p = view->problem;
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  lua_createtable(L, 0, 12);
  SCL_LUA_INTEGERS(L, {"rows", p->rows}, {"features", p->features}, {"targets", p->targets},
                   {"classes", p->classes}, {"parameters", p->parameters},
                   {"allowance", p->allowance});
  scl_lua_set_number(L, "log_scale", p->log_scale);
  SCL_LUA_BOOLEANS(L, {"has_kernel", p->has_kernel != 0}, {"intercept", p->intercept != 0});
  scl_lua_set_text(L, "task", p->task == SCL_TASK_CLASSIFICATION ? "classification" : "regression");
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL) return 1;
  if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "start") != 0)
    return luaL_error(L, "a problem has no %s", scl_lua_shown(L, 2));
  if (view->start == NULL) return 1;
  push_packed(L, view->start, p->features, p->targets);
  return 1;
}

void **scl_defined_push_problem(lua_State *L, const scl_defined_problem *problem) {
  void **view = scl_defined_push_view(L, PROBLEM, methods, index_problem);
  *view = (void *)(uintptr_t)problem;
  return view;
}
