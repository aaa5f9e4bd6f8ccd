/* scullery.checker: the slots of nonlinearities, on blocks in guarded memory, for the checker. */
#include "plugin/nonlinearity.h"
#include "base/pool.h"
#include "checker/blocks.h"
#include "checker/checker.h"

static const scl_instance *phi_at(lua_State *L, int place) {
  return scl_lua_check_instance(L, place, SCL_KIND_NONLINEARITY);
}

/* checker.phi_apply(phi, z, out): blocks */
static int phi_apply(lua_State *L) {
  const scl_const_block z = scl_lua_check_const_block(L, 2);
  const scl_block out = scl_lua_check_block(L, 3);
  scl_error error = {0};
  scl_lua_check(L, scl_nonlinearity_apply(phi_at(L, 1), &z, &out, &error), &error);
  return 0;
}

/* ------------ many calls at once */

typedef struct rows_job {
  const scl_instance *phi;
  const scl_const_block *z;
  const scl_block *out;
} rows_job;

/* One row as a block, by one call of `apply`: the task of one index of the pool. Blocks share
 * nothing, so that only a plugin with state that it writes can give other results than one call for
 * all rows. */
static scl_status apply_row(void *context, size_t index, scl_error *error) {
  const rows_job *job = context;
  const size_t bytes = job->z->dtype == SCL_DTYPE_FLOAT32 ? 4 : 8;
  scl_const_block z = *job->z;
  scl_block out = *job->out;
  z.rows = out.rows = 1;
  z.data = (const char *)z.data + index * (size_t)z.row_stride * bytes;
  out.data = (char *)out.data + index * (size_t)out.row_stride * bytes;
  return scl_nonlinearity_apply(job->phi, &z, &out, error);
}

/* checker.phi_apply_at_once(phi, z, out): the same, a call for each row, on all threads */
static int phi_apply_at_once(lua_State *L) {
  const scl_const_block z = scl_lua_check_const_block(L, 2);
  const scl_block out = scl_lua_check_block(L, 3);
  rows_job job = {phi_at(L, 1), &z, &out};
  scl_error error = {0};
  scl_lua_check(L, scl_pool_try(z.rows, apply_row, &job, &error), &error);
  return 0;
}

/* ------------ abilities */

/* A stride in the table of variances (argument 3); 0 where it is absent, so that one number serves
 * all. */
static ptrdiff_t stride_of(lua_State *L, const char *key) {
  lua_getfield(L, 3, key);
  const ptrdiff_t stride = (ptrdiff_t)luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  return stride;
}

/* checker.phi_smooth(phi, m, v, out): m and out blocks; v = { memory =, row_stride =, col_stride =,
 * plane_stride = }, in m's dtype */
static int phi_smooth(lua_State *L) {
  const scl_const_block m = scl_lua_check_const_block(L, 2);
  const scl_block out = scl_lua_check_block(L, 4);
  luaL_checktype(L, 3, LUA_TTABLE);
  scl_spread v = {.row_stride = stride_of(L, "row_stride"),
                  .col_stride = stride_of(L, "col_stride"),
                  .plane_stride = stride_of(L, "plane_stride")};
  const size_t last = (m.rows - (m.rows > 0)) * (size_t)v.row_stride +
                      (m.cols - (m.cols > 0)) * (size_t)v.col_stride +
                      (m.planes - (m.planes > 0)) * (size_t)v.plane_stride;
  lua_getfield(L, 3, "memory");
  v.data = scl_lua_opt_guarded(L, -1, m.dtype, last + 1);
  scl_error error = {0};
  scl_lua_check(L, scl_nonlinearity_smooth(phi_at(L, 1), &m, &v, &out, &error), &error);
  return 0;
}

/* Five arguments from `place` on: mean of a, mean of b, variance of a, variance of b,
 * covariance. */
static scl_moments moments_at(lua_State *L, int place) {
  return (scl_moments){luaL_checknumber(L, place), luaL_checknumber(L, place + 1),
                       luaL_checknumber(L, place + 2), luaL_checknumber(L, place + 3),
                       luaL_checknumber(L, place + 4)};
}

/* Return a number to Lua, or raise the error of the call that gave it. */
static int push_answer(lua_State *L, double value, const scl_error *error) {
  scl_lua_check(L, error->status, error);
  lua_pushnumber(L, value);
  return 1;
}

/* checker.phi_dual(phi, mean_a, mean_b, var_a, var_b, covariance) -> E phi(a) phi(b), NaN where it
 * has no closed form */
static int phi_dual(lua_State *L) {
  const scl_moments m = moments_at(L, 2);
  scl_error error = {0};
  return push_answer(L, scl_nonlinearity_dual(phi_at(L, 1), &m, &error), &error);
}

/* checker.phi_code_dual(phi, the same) -> P(category(a) = category(b)) */
static int phi_code_dual(lua_State *L) {
  const scl_moments m = moments_at(L, 2);
  scl_error error = {0};
  return push_answer(L, scl_nonlinearity_code_dual(phi_at(L, 1), &m, &error), &error);
}

/* checker.phi_threshold_dual(phi, F(a), F(b)) -> E_t phi(a - t) phi(b - t) */
static int phi_threshold_dual(lua_State *L) {
  scl_error error = {0};
  const double value = scl_nonlinearity_threshold_dual(phi_at(L, 1), luaL_checknumber(L, 2),
                                                       luaL_checknumber(L, 3), &error);
  return push_answer(L, value, &error);
}

/* checker.phi_amplitude(phi) -> that of SCL_ABILITY_HARMONIC, or nil */
static int phi_amplitude(lua_State *L) {
  double amplitude;
  if (!scl_nonlinearity_harmonic(phi_at(L, 1), &amplitude)) return 0;
  lua_pushnumber(L, amplitude);
  return 1;
}

/* checker.phi_key(phi, planes) -> words of a category, levels (0: unbounded) */
static int phi_key(lua_State *L) {
  size_t words, levels;
  scl_error error = {0};
  const size_t planes = scl_lua_check_size(L, 2, 1, 1 << 20, "planes");
  scl_lua_check(L, scl_nonlinearity_key(phi_at(L, 1), planes, &words, &levels, &error), &error);
  lua_pushinteger(L, (lua_Integer)words);
  lua_pushinteger(L, (lua_Integer)levels);
  return 2;
}

/* checker.phi_categories(phi, z, out): out an int32 block of rows x cols * words */
static int phi_categories(lua_State *L) {
  const scl_const_block z = scl_lua_check_const_block(L, 2);
  const scl_block out = scl_lua_check_block(L, 3);
  const scl_instance *phi = phi_at(L, 1);
  size_t words, levels;
  scl_error error = {0};
  scl_lua_check(L, scl_nonlinearity_key(phi, z.planes, &words, &levels, &error), &error);
  if (out.rows != z.rows || out.cols != z.cols * words || out.dtype != SCL_DTYPE_INT32)
    return luaL_error(L, "a block of codes of another shape");
  scl_lua_check(L, scl_nonlinearity_categories(phi, &z, out.data, out.row_stride, &error), &error);
  return 0;
}

SCL_LUA_CALLS(scl_checker_nonlinearity_calls, {"phi_apply", phi_apply, 3},
              {"phi_apply_at_once", phi_apply_at_once, 3}, {"phi_smooth", phi_smooth, 4},
              {"phi_dual", phi_dual, 6}, {"phi_code_dual", phi_code_dual, 6},
              {"phi_threshold_dual", phi_threshold_dual, 3}, {"phi_amplitude", phi_amplitude, 1},
              {"phi_key", phi_key, 2}, {"phi_categories", phi_categories, 3});
