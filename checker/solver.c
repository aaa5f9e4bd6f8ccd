/* scullery.checker: solvers on watched problems, for `scullery plugin check`. */
#include "plugin/solver.h"
#include "checker/blocks.h"
#include "checker/checker.h"
#include "checker/watched.h"
#include "lua/list.h"
#include "lua/model.h"
#include "lua/training.h"
#include <string.h>

/* ------------ watched solves */

static const char *const statuses[] = {"ok",          "bad option", "bad shape", "bad data",
                                       "unsupported", "no memory",  "numeric",   "cancelled",
                                       "io",          "internal",   NULL};
enum { STATUSES = sizeof statuses / sizeof *statuses - 1 };

/* The number of a verb by its name; raises for another name. */
static int verb_of(lua_State *L, const char *name) {
  for (int i = 0; i < SCL_WATCHED_VERBS; i++)
    if (strcmp(scl_watched_verbs[i], name) == 0) return i;
  return luaL_error(L, "a problem has no verb '%s'", name);
}

/* D x c numbers of a matrix, copied to a userdata left on the stack. */
static const double *read_start(lua_State *L, int place, const scl_lua_training *t) {
  const scl_matrix *from = scl_lua_hold_matrix(L, place);
  if (from->rows != scl_flow_features(&t->flow) || from->cols != t->flow.source->targets)
    luaL_error(L, "a start of the wrong shape");
  double *start = lua_newuserdatauv(L, (from->rows * from->cols + 1) * sizeof *start, 0);
  for (size_t i = 0; i < from->rows * from->cols; i++)
    start[i] = scl_matrix_get(from, i / from->cols, i % from->cols);
  return start;
}

/* {fail_at =, verb =, status =, start =, state =} at `place`; what it holds stays on the stack. */
static scl_watch read_watch(lua_State *L, int place, const scl_lua_training *t) {
  scl_watch watch = {.verb = -1};
  luaL_checktype(L, place, LUA_TTABLE);
  lua_getfield(L, place, "fail_at");
  watch.fail_at = (size_t)luaL_optinteger(L, -1, 0);
  lua_getfield(L, place, "verb");
  if (!lua_isnil(L, -1)) watch.verb = verb_of(L, luaL_checkstring(L, -1));
  lua_getfield(L, place, "status");
  watch.status = luaL_checkoption(L, -1, "no memory", statuses);
  lua_getfield(L, place, "start");
  if (!lua_isnil(L, -1)) watch.start = read_start(L, lua_gettop(L), t);
  lua_getfield(L, place, "state");
  watch.state = luaL_optlstring(L, -1, NULL, &watch.bytes);
  return watch;
}

/* A table of what was watched; solving and fitting return it with more fields. */
static void push_tale(lua_State *L, const scl_watch *watch) {
  lua_newtable(L);
  lua_newtable(L);
  size_t all = 0;
  for (int i = 0; i < SCL_WATCHED_VERBS; i++) {
    scl_lua_set_integer(L, scl_watched_verbs[i], watch->calls[i]);
    all += watch->calls[i];
  }
  lua_setfield(L, -2, "calls");
  scl_lua_set_integer(L, "all", all);
  scl_lua_set_boolean(L, "failed", watch->failed);
  if (watch->fault[0] != 0) scl_lua_set_text(L, "fault", watch->fault);
  if (watch->stored == NULL) return;
  lua_pushlstring(L, watch->stored, watch->bytes);
  lua_setfield(L, -2, "state");
  scl_release(watch->stored);
}

/* Solve or fit, as the solver does it. values: `count` of them, or NULL with count 0. */
static scl_status run(scl_lua_training *t, scl_instance *solver, const double *values, size_t count,
                      scl_watch *watch, scl_lua_fits *f, scl_error *error) {
  if (scl_instance_has(solver, SCL_ABILITY_MODEL))
    return scl_watched_fit(t->engine, solver, values, count, watch, f->list, f->models, error);
  return scl_watched_solve(t->engine, solver, values, count, watch, f->list, error);
}

/* A list of the fits, and of the models where the solver makes models. */
static void push_fits(lua_State *L, scl_lua_fits *f, size_t count) {
  f->count = count;
  lua_createtable(L, (int)count, 0);
  for (size_t k = 0; k < count; k++) {
    scl_lua_push_fit(L, &f->list[k]);
    if (f->models[k] != NULL) scl_lua_push_fit_model(L, &f->models[k], 0);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
}

/* checker.watched_solve(training, solver, values or nil, {fail_at = number of a call, from 1,
 * verb = count calls of this verb only, status = the status it fails with, start = D x c, state =
 * what `keep` restores}) ->
 * {status, message, fits = one for each value, where it is "ok", calls = {verb = number of
 * calls}, all = calls of all verbs, failed = whether a call was made to fail, fault = the first
 * rule of the interface that the solver broke} */
static int watched_solve(lua_State *L) {
  enum { MOST_VALUES = 1000 };
  scl_lua_training *t = scl_lua_take_training(L, 1);
  scl_instance *solver = scl_lua_check_instance(L, 2, SCL_KIND_SOLVER);
  const size_t values = lua_isnil(L, 3) ? 0 : scl_lua_copy_list(L, 3, MOST_VALUES, "values");
  const size_t count = values == 0 ? 1 : values;
  const double *list = values == 0 ? NULL : scl_lua_list_numbers(L, 3, values, "values");
  scl_watch watch = read_watch(L, 4, t);
  scl_lua_fits *f = scl_lua_new_fits(L, 1, count);
  scl_error error = {0};
  const scl_status status = run(t, solver, list, values, &watch, f, &error);
  push_tale(L, &watch);
  scl_lua_set_text(L, "status", status >= 0 && status < STATUSES ? statuses[status] : "?");
  if (status != SCL_STATUS_OK) {
    scl_lua_set_text(L, "message", error.message);
    return 1;
  }
  push_fits(L, f, count);
  lua_setfield(L, -2, "fits");
  return 1;
}

/* ------------ models */

/* checker.watched_load(solver, what core.model_save gave) -> model; its arrays lie in guarded
 * memory while `load` runs */
static int watched_load(lua_State *L) { return scl_lua_load_model(L, scl_watched_load); }

/* checker.model_decide(model, block, scores, targets, stride): one call of decide, from a block to
 * scores, guarded memory of float64 */
static int model_decide(lua_State *L) {
  const scl_model *model = scl_lua_check_handle(L, 1, SCL_LUA_MODEL);
  const scl_const_block rows = scl_lua_check_const_block(L, 2);
  const size_t targets = scl_model_targets(model),
               stride = scl_lua_check_size(L, 4, targets, 1 << 20, "stride");
  const size_t numbers = rows.rows == 0 ? 0 : (rows.rows - 1) * stride + targets;
  double *scores = scl_lua_opt_guarded(L, 3, SCL_DTYPE_FLOAT64, numbers);
  scl_error error = {0};
  scl_lua_check(L, scl_model_decide_block(model, &rows, scores, (ptrdiff_t)stride, &error), &error);
  return 0;
}

/* ------------ what a solver declares */

/* checker.solver_facts(solver) -> {float32, sparse, csr, penalty, loss = whether it has one,
 * objective, path = its option, intercept = whether it asks for one, models} */
static int solver_facts(lua_State *L) {
  static const char *const penalties[] = {"none", "l2", "l1", "box", "rkhs", "signs", "other"};
  const scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  const scl_penalty penalty = scl_solver_penalty(solver);
  const char *path = scl_solver_path_option(solver);
  lua_newtable(L);
  scl_lua_set_boolean(L, "float32", scl_solver_takes(solver, SCL_DTYPE_FLOAT32));
  scl_lua_set_boolean(L, "sparse", scl_instance_has(solver, SCL_ABILITY_SPARSE_ROWS));
  scl_lua_set_boolean(L, "csr", scl_instance_has(solver, SCL_ABILITY_CSR_ROWS));
  scl_lua_set_boolean(L, "loss", scl_instance_has(solver, SCL_ABILITY_LOSS));
  scl_lua_set_boolean(L, "objective", scl_instance_has(solver, SCL_ABILITY_OBJECTIVE));
  scl_lua_set_boolean(L, "intercept", scl_solver_wants_intercept(solver));
  scl_lua_set_boolean(L, "models", scl_instance_has(solver, SCL_ABILITY_MODEL));
  if (penalty >= 0 && penalty <= SCL_PENALTY_OTHER)
    scl_lua_set_text(L, "penalty", penalties[penalty]);
  scl_lua_set_integer(L, "penalty_number", (size_t)penalty);
  if (path != NULL) scl_lua_set_text(L, "path", path);
  return 1;
}

/* checker.solver_row(solver, f, y) -> value, {slope}, {probabilities} or nil: the loss of one row
 * with scores f and targets y, lists of as many numbers */
static int solver_row(lua_State *L) {
  enum { MOST = 64 };
  const scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  const size_t c = scl_lua_copy_list(L, 2, MOST, "f");
  double slope[MOST], probabilities[MOST];
  const double *f = scl_lua_list_numbers(L, 2, c, "f");
  if (scl_lua_copy_list(L, 3, MOST, "y") != c) return luaL_error(L, "f and y differ in length");
  const double *y = scl_lua_list_numbers(L, 3, c, "y");
  scl_error error = {0};
  bool said;
  lua_pushnumber(L, scl_solver_loss(solver, c, f, y, &error));
  scl_lua_check(L, error.status, &error);
  scl_lua_check(L, scl_solver_loss_slope(solver, c, f, y, slope, &error), &error);
  const size_t classes = c == 1 ? 2 : c;
  lua_createtable(L, (int)c, 0);
  for (size_t j = 0; j < c; j++) {
    lua_pushnumber(L, slope[j]);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
  scl_lua_check(L, scl_solver_probabilities(solver, c, f, probabilities, &said, &error), &error);
  if (!said) return 2;
  lua_createtable(L, (int)classes, 0);
  for (size_t j = 0; j < classes; j++) {
    lua_pushnumber(L, probabilities[j]);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
  return 3;
}

/* checker.solver_means(solver, f) -> the list of means of scores f; nil where these are predictions */
static int solver_means(lua_State *L) {
  enum { MOST = 64 };
  const scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  const size_t c = scl_lua_copy_list(L, 2, MOST, "f");
  double out[MOST];
  bool said;
  SCL_LUA_TRY(L,
              scl_solver_means(solver, c, scl_lua_list_numbers(L, 2, c, "f"), out, &said, &error));
  if (!said) return 0;
  lua_createtable(L, (int)c, 0);
  for (size_t j = 0; j < c; j++) {
    lua_pushnumber(L, out[j]);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
  return 1;
}

/* checker.is_unsupported() -> whether the last failure was SCL_STATUS_UNSUPPORTED */
static int is_unsupported(lua_State *L) {
  lua_pushboolean(L, scl_lua_raised == SCL_STATUS_UNSUPPORTED);
  return 1;
}

SCL_LUA_CALLS(scl_checker_solver_calls, {"is_unsupported", is_unsupported, 0},
              {"watched_solve", watched_solve, 4}, {"watched_load", watched_load, 2},
              {"model_decide", model_decide, 4}, {"solver_facts", solver_facts, 1},
              {"solver_row", solver_row, 3}, {"solver_means", solver_means, 2});
