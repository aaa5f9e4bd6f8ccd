/* scullery.core: norms of models with a kernel K between parameters, and their pruning to fewer
 * parameters (learn/pruning.h), for lua/scullery/model/prune.lua. */
#include "learn/pruning.h"
#include "lua/handle.h"

#define SCL_LUA_PRUNING "scullery.pruning"

/* core.map_norm(map, weights) -> sqrt of the sum over targets of a'Ga, weights in the features' own
 * scale */
static int map_norm(lua_State *L) {
  double norm = 0;
  const scl_map *map = scl_lua_check_handle(L, 1, SCL_LUA_MAP);
  SCL_LUA_TRY(L, scl_model_norm(map, scl_lua_hold_matrix(L, 2), &norm, &error));
  return scl_lua_give_number(L, norm);
}

static void release_pruning(void *pruning) { scl_pruning_close(pruning); }

/* core.pruning(map, weights) -> pruning: G is made once for all its steps */
static int pruning_new(lua_State *L) {
  const scl_map *map = scl_lua_check_handle(L, 1, SCL_LUA_MAP);
  const scl_matrix *a = scl_lua_hold_matrix(L, 2);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_handle(L, SCL_LUA_PRUNING, release_pruning), scl_pruning,
                      scl_pruning_open(map, a, &made, &error));
  return 1;
}

/* core.prune_step(pruning, solver) -> weights b, ||alpha - beta||, ||beta||: the solver minimises
 * (1/2T) ||Ua - Ub||^2 and its penalty over b, where U'U = G. alpha and beta are the functions with
 * the weights a and b, and the norms are those of the space with the kernel K. */
static int prune_step(lua_State *L) {
  const scl_pruning *pruning = scl_lua_check_handle(L, 1, SCL_LUA_PRUNING);
  const scl_instance *solver = scl_lua_check_instance(L, 2, SCL_KIND_SOLVER);
  double distance = 0, norm = 0;
  scl_fit fit;
  scl_matrix *out = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L, scl_pruning_step(pruning, solver, &fit, &distance, &norm, &error));
  *out = fit.coefficients;
  fit.coefficients = (scl_matrix){0};
  scl_fit_release(&fit);
  scl_lua_account(L, scl_matrix_bytes(out));
  lua_pushnumber(L, distance);
  lua_pushnumber(L, norm);
  return 3;
}

SCL_LUA_CALLS(scl_lua_pruning_calls, {"map_norm", map_norm, 2}, {"pruning", pruning_new, 2},
              {"prune_step", prune_step, 2});
