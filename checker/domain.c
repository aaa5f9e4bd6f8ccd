/* scullery.checker: the domain that a component declares. */
#include "plugin/domain.h"
#include "checker/checker.h"
#include "lua/call.h"
#include "lua/handle.h"

/* checker.domain(instance) -> { low, high = numbers that may be infinite, low_open, high_open,
 * unit, columns = booleans }; nothing where it takes any number, or for a kind that has no
 * domain */
static int domain(lua_State *L) {
  const scl_instance *component = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  scl_domain found;
  scl_error error = {0};
  bool known;
  scl_lua_check(L, scl_domain_of(component, &found, &known, &error), &error);
  if (!known) return 0;
  const bool any = found.low == 0 && found.high == 0;
  lua_newtable(L);
  SCL_LUA_NUMBERS(L, {"low", any ? -INFINITY : found.low}, {"high", any ? INFINITY : found.high});
  SCL_LUA_BOOLEANS(L, {"low_open", (found.range & SCL_RANGE_LOW_OPEN) != 0},
                   {"high_open", (found.range & SCL_RANGE_HIGH_OPEN) != 0},
                   {"unit", (found.flags & SCL_DOMAIN_UNIT_ROWS) != 0},
                   {"columns", (found.flags & SCL_DOMAIN_COLUMNS) != 0});
  return 1;
}

SCL_LUA_CALLS(scl_checker_domain_calls, {"domain", domain, 1});
