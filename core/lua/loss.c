/* scullery.core: the loss of a solver. A solver that declares none minimises the squared error. */
#include "learn/score.h"
#include "lua/handle.h"
#include "plugin/solver.h"

/* core.loss(solver, reach) -> {squared, at_zero, bound, lipschitz}: the loss at f = 0 for y = 1
 * (where a model without features starts), its largest value and its Lipschitz constant for |f| <=
 * reach */
static int solver_loss(lua_State *L) {
  const scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  const double reach = luaL_checknumber(L, 2), zero = 0, one = 1;
  scl_error failure = {0};
  lua_newtable(L);
  scl_lua_set_boolean(L, "squared", !scl_instance_has(solver, SCL_ABILITY_LOSS));
  SCL_LUA_NUMBERS(L, {"at_zero", scl_solver_loss(solver, 1, &zero, &one, &failure)},
                  {"bound", scl_solver_loss_bound(solver, reach, &failure)},
                  {"lipschitz", scl_solver_loss_lipschitz(solver, reach, &failure)});
  scl_lua_check(L, failure.status, &failure);
  return 1;
}

/* core.losses(solver, decisions, targets) -> n x 1, the loss of each row */
static int losses(lua_State *L) {
  const scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  const scl_matrix *f = scl_lua_hold_matrix(L, 2), *y = scl_lua_hold_matrix(L, 3);
  scl_matrix *out = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L, scl_losses(solver, f, y, out, &error));
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

SCL_LUA_CALLS(scl_lua_loss_calls, {"loss", solver_loss, 2}, {"losses", losses, 3});
