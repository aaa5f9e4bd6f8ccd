/* scullery.core: probabilities of classes: sigmoids fitted to scores (Platt scaling, learn/platt.h:
 * P(y = 1 | f) = 1 / (1 + exp(slope f + offset))), curves (isotonic regression, learn/isotonic.h),
 * or as the loss of the solver says. */
#include "learn/score.h"
#include "lua/handle.h"
#include "lua/labels.h"
#include "lua/list.h"

const scl_matrix *scl_lua_check_scores(lua_State *L, int place) {
  const scl_matrix *f = scl_lua_hold_matrix(L, place);
  luaL_argcheck(L, f->dtype == SCL_DTYPE_FLOAT64 && scl_matrix_is_rowwise(f) && f->cols > 0, place,
                "scores are float64, a row each");
  return f;
}

/* Scores and targets, the first two arguments. */
static void check_pair(lua_State *L, const scl_matrix **f, const scl_matrix **y) {
  *f = scl_lua_check_scores(L, 1);
  *y = scl_lua_check_scores(L, 2);
  if ((*f)->rows != (*y)->rows || (*f)->cols != (*y)->cols)
    luaL_error(L, "scores are %d x %d and targets %d x %d", (int)(*f)->rows, (int)(*f)->cols,
               (int)(*y)->rows, (int)(*y)->cols);
}

/* core.platt(scores, targets[, weights]) -> a sigmoid for each column, fitted to scores of rows
 * that the model was not fitted to, else the probabilities would be too close to 0 and 1: {slope,
 * offset, positives, negatives, residual, tolerance, iterations, converged} */
static int platt(lua_State *L) {
  const scl_matrix *f, *y;
  check_pair(L, &f, &y);
  const double *weights = scl_lua_opt_weights(L, 3, f->rows);
  lua_createtable(L, (int)f->cols, 0);
  for (size_t j = 0; j < f->cols; j++) {
    scl_platt fit;
    SCL_LUA_TRY(L, scl_platt_fit(f->rows, scl_matrix_row(f, 0) + j, f->row_stride,
                                 scl_matrix_row(y, 0) + j, y->row_stride, weights, &fit, &error));
    lua_createtable(L, 0, 8);
    SCL_LUA_NUMBERS(L, {"slope", fit.slope}, {"offset", fit.offset}, {"positives", fit.positives},
                    {"negatives", fit.negatives}, {"residual", fit.residual},
                    {"tolerance", fit.tolerance});
    scl_lua_set_integer(L, "iterations", fit.iterations);
    scl_lua_set_boolean(L, "converged", fit.converged);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
  return 1;
}

const scl_platt *scl_lua_check_sigmoids(lua_State *L, int place, size_t count) {
  const size_t found = scl_lua_copy_list(L, place, SCL_LUA_MOST, "sigmoids");
  if (found != count)
    luaL_error(L, "%I sigmoids for %I scores a row", (LUAI_UACINT)found, (LUAI_UACINT)count);
  scl_platt *sigmoids = lua_newuserdatauv(L, (count + 1) * sizeof *sigmoids, 0);
  for (size_t j = 0; j < count; j++) {
    scl_lua_push_table(L, place, j, "sigmoids");
    lua_getfield(L, -1, "slope");
    lua_getfield(L, -2, "offset");
    sigmoids[j] = (scl_platt){.slope = luaL_checknumber(L, -2), .offset = luaL_checknumber(L, -1)};
    lua_pop(L, 3);
  }
  return sigmoids;
}

static void release_curve(void *curve) {
  scl_isotonic_release(curve);
  scl_release(curve);
}

/* core.isotonic(scores, targets[, weights]) -> a curve for each column: {scores = {...}, shares =
 * {...}, positives, negatives} */
static int isotonic(lua_State *L) {
  const scl_matrix *f, *y;
  check_pair(L, &f, &y);
  const double *weights = scl_lua_opt_weights(L, 3, f->rows);
  lua_createtable(L, (int)f->cols, 0);
  for (size_t j = 0; j < f->cols; j++) {
    scl_isotonic *curve = scl_lua_new_owned(L, "isotonic", release_curve, sizeof *curve);
    SCL_LUA_TRY(L,
                scl_isotonic_fit(f->rows, scl_matrix_row(f, 0) + j, f->row_stride,
                                 scl_matrix_row(y, 0) + j, y->row_stride, weights, curve, &error));
    lua_createtable(L, 0, 4);
    SCL_LUA_NUMBERS(L, {"positives", curve->positives}, {"negatives", curve->negatives});
    scl_lua_set_list(L, "scores", curve->scores, curve->count);
    scl_lua_set_list(L, "shares", curve->shares, curve->count);
    lua_rawseti(L, -3, (lua_Integer)j + 1);
    lua_pop(L, 1);
  }
  return 1;
}

/* The numbers in the field `key` of the table at `place`; what holds them is left on the stack. */
static double *curve_numbers(lua_State *L, int place, const char *key, size_t *count) {
  lua_getfield(L, place, key);
  const int list = lua_gettop(L);
  *count = scl_lua_copy_list(L, list, SCL_LUA_MOST, key);
  return scl_lua_list_numbers(L, list, *count, key);
}

const scl_isotonic *scl_lua_test_curves(lua_State *L, int place, size_t count) {
  enum { SLOTS = 5 }; /* that a curve leaves on the stack */
  if (lua_rawgeti(L, place, 1) != LUA_TTABLE || lua_getfield(L, -1, "shares") != LUA_TTABLE)
    return NULL;
  const size_t found = scl_lua_copy_list(L, place, SCL_LUA_MOST, "curves");
  if (found != count)
    luaL_error(L, "%I curves for %I scores a row", (LUAI_UACINT)found, (LUAI_UACINT)count);
  luaL_checkstack(L, (int)(SLOTS * count) + SLOTS, "curves");
  scl_isotonic *list = lua_newuserdatauv(L, (count + 1) * sizeof *list, 0);
  for (size_t j = 0; j < count; j++) {
    size_t shares;
    list[j] = (scl_isotonic){0};
    scl_lua_push_table(L, place, j, "curves");
    const int table = lua_gettop(L);
    list[j].scores = curve_numbers(L, table, "scores", &list[j].count);
    list[j].shares = curve_numbers(L, table, "shares", &shares);
    if (shares != list[j].count) luaL_error(L, "a curve has as many scores as shares");
    SCL_LUA_TRY(L, scl_isotonic_check(&list[j], &error));
  }
  return list;
}

/* core.own_probabilities(solver, scores) -> n x classes as the loss of the solver says, nil where
 * it says none */
static int own_probabilities(lua_State *L) {
  const scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  const scl_matrix *f = scl_lua_check_scores(L, 2);
  bool said;
  scl_matrix *out = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L, scl_loss_probabilities(solver, f, out, &said, &error));
  if (!said) return 0;
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

SCL_LUA_CALLS(scl_lua_probabilities_calls, {"platt", platt, 3}, {"isotonic", isotonic, 3},
              {"own_probabilities", own_probabilities, 2});
