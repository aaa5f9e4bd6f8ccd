/* The Lua module scullery.checker: what checker/lua can do beyond scullery.core. */
#include "checker/checker.h"

int luaopen_scullery_checker(lua_State *L);

__attribute__((visibility("default"))) int luaopen_scullery_checker(lua_State *L) {
  lua_newtable(L);
  scl_checker_open_process(L);
  scl_checker_open_blocks(L);
  scl_checker_open_sampler(L);
  scl_checker_open_nonlinearity(L);
  scl_checker_open_kernel(L);
  scl_checker_open_solver(L);
  scl_checker_open_transport(L);
  scl_checker_open_stage(L);
  scl_checker_open_at_once(L);
  scl_checker_open_sums(L);
  scl_checker_open_metric(L);
  scl_checker_open_loss(L);
  scl_checker_open_reader(L);
  scl_checker_open_domain(L);
  return 1;
}
