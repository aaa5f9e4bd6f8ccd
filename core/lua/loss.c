/* scullery.core: the loss of a solver, for the guarantees of lua/scullery/model/bounds.lua. A
 * solver that declares no loss minimises the squared error. */
#include "learn/score.h"
#include "lua/handle.h"
#include "plugin/solver.h"

/* core.loss(solver, reach[, decisions, targets]) -> {squared, at_zero, bound, lipschitz[, mean]}:
 * the loss at f = 0 for y = 1 (where a model without features starts), its largest value and its
 * Lipschitz constant for |f| <= reach, its mean over rows */
static int solver_loss(lua_State *L) {
  const scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  const double reach = luaL_checknumber(L, 2), zero = 0, one = 1;
  double mean;
  scl_error failure = {0};
  lua_newtable(L);
  scl_lua_set_boolean(L, "squared", !scl_solver_has_loss(solver));
  SCL_LUA_NUMBERS(L, {"at_zero", scl_solver_loss(solver, 1, &zero, &one, &failure)},
                  {"bound", scl_solver_loss_bound(solver, reach, &failure)},
                  {"lipschitz", scl_solver_loss_lipschitz(solver, reach, &failure)});
  scl_lua_check(L, failure.status, &failure);
  if (lua_isnoneornil(L, 3)) return 1;
  SCL_LUA_TRY(L, scl_mean_loss(solver, scl_lua_hold_matrix(L, 3), scl_lua_hold_matrix(L, 4), &mean,
                               &error));
  scl_lua_set_number(L, "mean", mean);
  return 1;
}

void scl_lua_open_loss(lua_State *L) { SCL_LUA_CALLS(L, {"loss", solver_loss, 4}); }
