/* scullery.core: posteriors of ridge regressions (learn/posterior.h) as Lua values.
 * lua/scullery/model/posterior.lua makes standard deviations, intervals and draws of these. */
#include "learn/posterior.h"
#include "algebra/symmetric.h"
#include "learn/conformal.h"
#include "lua/matrix.h"
#include "lua/saved.h"
#include "lua/training.h"
#include "model/sure.h"

#include <string.h>

static void release_posterior(void *posterior) { scl_posterior_destroy(posterior); }

static void **new_posterior(lua_State *L) {
  return scl_lua_new_handle(L, SCL_LUA_POSTERIOR, release_posterior);
}

static const scl_posterior *check_posterior(lua_State *L, int place) {
  return scl_lua_check_handle(L, place, SCL_LUA_POSTERIOR);
}

/* The posterior on top is the result; the collector is told its bytes. */
static int account(lua_State *L) {
  const scl_posterior *p = check_posterior(L, -1);
  scl_lua_account(L, (size_t)scl_symmetric_bytes((double)scl_symmetric_order(p->factor)) +
                         p->rows * p->features * sizeof(double));
  return 1;
}

/* core.posterior(training, solver, lambda, by sums) -> posterior */
static int posterior_new(lua_State *L) {
  scl_lua_training *t = scl_lua_take_training(L, 1);
  const scl_instance *solver = scl_lua_check_instance(L, 2, SCL_KIND_SOLVER);
  const double lambda = luaL_checknumber(L, 3);
  SCL_LUA_PUSH_HANDLE(
      L, new_posterior(L), scl_posterior,
      scl_posterior_create(t->engine, solver, lambda, lua_toboolean(L, 4), &made, &error));
  return account(L);
}

/* 1 x count numbers as the field `key` of the table on top. */
static void push_numbers(lua_State *L, const char *key, const double *numbers, size_t count) {
  scl_matrix *m = scl_lua_make_matrix(L, 1, count, SCL_DTYPE_FLOAT64);
  if (count > 0) memcpy(m->data, numbers, count * sizeof *numbers);
  lua_setfield(L, -2, key);
}

/* core.posterior_info(posterior) -> {features, targets, rows = of the dual form or 0, weight = n
 * lambda, total = n, constant, whitened, jitter, evidence = 1 x c, residual = 1 x c} */
static int posterior_info(lua_State *L) {
  const scl_posterior *p = check_posterior(L, 1);
  lua_newtable(L);
  SCL_LUA_INTEGERS(L, {"features", p->features}, {"targets", p->targets}, {"rows", p->rows});
  SCL_LUA_NUMBERS(L, {"weight", p->weight}, {"total", p->total}, {"jitter", p->jitter});
  SCL_LUA_BOOLEANS(L, {"constant", p->constant}, {"whitened", p->whitened});
  push_numbers(L, "evidence", p->evidence, p->targets);
  push_numbers(L, "residual", p->residual, p->targets);
  return 1;
}

/* core.posterior_parameters(posterior) -> the effective parameters besides the constant */
static int posterior_parameters(lua_State *L) {
  const scl_posterior *p = check_posterior(L, 1);
  double count = 0;
  SCL_LUA_TRY(L, scl_posterior_parameters(p, &count, &error));
  return scl_lua_give_number(L, count);
}

/* core.posterior_variance(posterior, source, stages, map, rest) -> rows x 1: the variance of the
 * function at each row, over that of the noise; rest: with the rest of the kernel (map/map.h) */
static int posterior_variance(lua_State *L) {
  const scl_posterior *p = check_posterior(L, 1);
  scl_flow flow = scl_lua_flow(L, 2, 3, 4);
  flow.doing = "standard deviations";
  scl_matrix *out = scl_lua_make_matrix(L, flow.source->rows, 1, SCL_DTYPE_FLOAT64);
  SCL_LUA_TRY(L, scl_posterior_variance(p, &flow, lua_toboolean(L, 5), out->data, &error));
  return 1;
}

/* core.posterior_project(posterior, source, stages, map, training) -> rows x r: two matrices, of rows
 * and of the training rows, whose products are (phi - mean)'A^-1 (phi_i - mean) */
static int posterior_project(lua_State *L) {
  const scl_posterior *p = check_posterior(L, 1);
  scl_flow flow = scl_lua_flow(L, 2, 3, 4);
  const bool training = lua_toboolean(L, 5);
  flow.doing = "projections";
  SCL_LUA_PUSH_MATRIX(
      L, (training ? scl_posterior_training : scl_posterior_project)(p, &flow, out, &error));
  return 1;
}

/* core.posterior_draw(posterior, map, seed, draw) -> D x c changes of the weights and 1 x c of the
 * constant, of unit noise; map: NULL or that of the posterior, whose whitening is undone */
static int posterior_draw(lua_State *L) {
  const scl_posterior *p = check_posterior(L, 1);
  const scl_map *map = lua_isnil(L, 2) ? NULL : scl_lua_check_handle(L, 2, SCL_LUA_MAP);
  const uint64_t seed = (uint64_t)luaL_checkinteger(L, 3), draw = (uint64_t)luaL_checkinteger(L, 4);
  scl_matrix *weights = scl_lua_make_matrix(L, p->features, p->targets, SCL_DTYPE_FLOAT64),
             *constants = scl_lua_make_matrix(L, 1, p->targets, SCL_DTYPE_FLOAT64);
  SCL_LUA_TRY(L, scl_posterior_draw(p, seed, draw, weights->data, constants->data, &error));
  if (map != NULL) scl_map_unwhiten(map, weights->data, weights->cols);
  return 2;
}

/* core.posterior_save(posterior) -> {factor, mean, evidence, residual, phi}, matrices of one row */
static int posterior_save(lua_State *L) {
  const scl_posterior *p = check_posterior(L, 1);
  size_t bytes;
  const double *numbers = scl_symmetric_numbers(p->factor, &bytes);
  lua_newtable(L);
  push_numbers(L, "factor", numbers, bytes / sizeof *numbers);
  push_numbers(L, "mean", p->mean, p->features);
  push_numbers(L, "evidence", p->evidence, p->targets);
  push_numbers(L, "residual", p->residual, p->targets);
  if (p->rows > 0) push_numbers(L, "phi", p->phi, p->rows * p->features);
  return 1;
}

/* core.saved_posterior(saved, features, targets) -> the posterior in that file */
static int posterior_load(lua_State *L) {
  const scl_saved *saved = scl_lua_check_saved(L, 1);
  const size_t features = scl_lua_check_size(L, 2, 1, INT32_MAX, "features"),
               targets = scl_lua_check_size(L, 3, 1, INT32_MAX, "targets");
  SCL_LUA_PUSH_HANDLE(L, new_posterior(L), scl_posterior,
                      scl_saved_posterior(saved, features, targets, &made, &error));
  return account(L);
}

/* core.conformal_bounds(centres, sizes, low rank, high rank) -> low, high, m x 1 each (learn/
 * conformal.h); centres: m x n, sizes: 1 x n, both finite, packed float64 */
static int conformal_bounds(lua_State *L) {
  const scl_matrix *centres = scl_lua_hold_matrix(L, 1), *sizes = scl_lua_hold_matrix(L, 2);
  const size_t n = centres->cols, low = scl_lua_check_size(L, 3, 0, n, "low rank"),
               high = scl_lua_check_size(L, 4, 1, n, "high rank");
  size_t row, col;
  if (centres->dtype != SCL_DTYPE_FLOAT64 || centres->col_stride != 1 ||
      sizes->dtype != SCL_DTYPE_FLOAT64 || sizes->col_stride != 1 || sizes->rows != 1 ||
      sizes->cols != n || scl_matrix_find_nonfinite(centres, &row, &col) ||
      scl_matrix_find_nonfinite(sizes, &row, &col))
    return luaL_error(L, "bounds of intervals are of finite m x n and 1 x n numbers");
  scl_matrix *a = scl_lua_make_matrix(L, centres->rows, 1, SCL_DTYPE_FLOAT64),
             *b = scl_lua_make_matrix(L, centres->rows, 1, SCL_DTYPE_FLOAT64);
  SCL_LUA_TRY(L, scl_conformal_bounds(centres, sizes->data, low, high, a->data, b->data, &error));
  return 2;
}

SCL_LUA_CALLS(scl_lua_posterior_calls, {"posterior", posterior_new, 4},
              {"posterior_info", posterior_info, 1},
              {"posterior_parameters", posterior_parameters, 1},
              {"posterior_variance", posterior_variance, 5},
              {"posterior_project", posterior_project, 5}, {"posterior_draw", posterior_draw, 4},
              {"posterior_save", posterior_save, 1}, {"saved_posterior", posterior_load, 3},
              {"conformal_bounds", conformal_bounds, 4});
