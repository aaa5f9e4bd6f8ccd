/* scullery.checker: slots of losses, on lists of numbers in guarded memory, for checks of
 * plugins. */
#include "plugin/loss.h"
#include "checker/checker.h"
#include "checker/guarded.h"
#include "lua/call.h"
#include "lua/handle.h"
#include "lua/list.h"
#include <string.h>

enum { MOST_ARRAYS = 3, MOST_NUMBERS = 1 << 20 };

static const char *const functions[] = {"value",    "slope",       "curvature", "conjugate",
                                        "proximal", "probability", "mean",      NULL};
enum { PROXIMAL = 4, PROBABILITY, MEAN };

/* One call: the arrays that it reads, and the one that it writes. */
typedef struct loss_call {
  size_t count, arrays;
  scl_guarded in[MOST_ARRAYS], out;
} loss_call;

static void release_call(loss_call *c) {
  for (size_t k = 0; k < MOST_ARRAYS; k++)
    scl_guarded_destroy(&c->in[k]);
  scl_guarded_destroy(&c->out);
}

static int end_call(lua_State *L) {
  release_call(lua_touserdata(L, 1));
  return 0;
}

/* The list at `place` in memory that cannot be written, or that the call may write to. */
static void read_list(lua_State *L, int place, loss_call *c, bool at_start, bool writable) {
  scl_guarded *to = &c->in[c->arrays++];
  scl_error error = {0};
  luaL_checktype(L, place, LUA_TTABLE);
  scl_lua_check(L, scl_guarded_create(c->count * sizeof(double), at_start, to, &error), &error);
  for (size_t i = 0; i < c->count; i++) {
    lua_rawgeti(L, place, (lua_Integer)i + 1);
    const double number = luaL_checknumber(L, -1);
    memcpy(to->bytes + i * sizeof number, &number, sizeof number);
    lua_pop(L, 1);
  }
  if (!writable) scl_guarded_lock(to);
}

/* checker.loss_call(loss, function, numbers, targets, steps or nil, at_start, in_place) -> a list:
 * the function of that name of these lists. at_start: memory begins behind a guard page; in_place:
 * the results take the place of the first list. */
static int call_loss(lua_State *L) {
  const scl_instance *loss = scl_lua_check_instance(L, 1, SCL_KIND_LOSS);
  const int function = luaL_checkoption(L, 2, NULL, functions);
  const bool at_start = lua_toboolean(L, 6), in_place = lua_toboolean(L, 7);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 7);
  loss_call *c = scl_lua_new_guarded(L, sizeof *c, end_call);
  scl_error error = {0};
  c->count = scl_lua_list_length(L, 3, "numbers");
  luaL_argcheck(L, c->count <= MOST_NUMBERS, 3, "too many numbers");
  read_list(L, 3, c, at_start, in_place);
  for (int place = 4; place <= 5; place++)
    if (lua_istable(L, place)) read_list(L, place, c, at_start, false);
  luaL_argcheck(L,
                c->arrays == (function == PROXIMAL      ? 3u
                              : function >= PROBABILITY ? 1u
                                                        : 2u),
                4, "another number of lists");
  scl_lua_check(L, scl_guarded_create(c->count * sizeof(double), at_start, &c->out, &error),
                &error);
  const double *first = (const void *)c->in[0].bytes, *y = (const void *)c->in[1].bytes,
               *t = (const void *)c->in[2].bytes;
  double *out = (void *)(in_place ? c->in[0].bytes : c->out.bytes);
  const scl_status status =
      function == PROXIMAL      ? scl_loss_proximal(loss, c->count, first, y, t, out, &error)
      : function == PROBABILITY ? scl_loss_probability(loss, c->count, first, out, &error)
      : function == MEAN
          ? scl_loss_mean(loss, c->count, first, out, &error)
          : scl_loss_call(loss, (scl_loss_slot)function, c->count, first, y, out, &error);
  scl_lua_check(L, status, &error);
  if (!scl_guarded_untouched(in_place ? &c->in[0] : &c->out))
    return luaL_error(L, "%s writes before its first number", functions[function]);
  scl_lua_push_numbers(L, out, c->count);
  release_call(c);
  return 1;
}

/* checker.loss_facts(loss) -> { numbers, classes, kinks, low_open, high_open = booleans, low, high,
 * lipschitz, largest_curvature = numbers, value, ... = whether it offers the function } */
static int loss_facts(lua_State *L) {
  const scl_instance *loss = scl_lua_check_instance(L, 1, SCL_KIND_LOSS);
  scl_loss_facts facts;
  scl_error error = {0};
  scl_lua_check(L, scl_loss_facts_of(loss, &facts, &error), &error);
  const bool any = facts.low == 0 && facts.high == 0;
  lua_newtable(L);
  scl_lua_set_boolean(L, "numbers", (facts.targets & SCL_TARGETS_NUMBERS) != 0);
  scl_lua_set_boolean(L, "classes", (facts.targets & SCL_TARGETS_CLASSES) != 0);
  scl_lua_set_boolean(L, "kinks", (facts.flags & SCL_LOSS_KINKS) != 0);
  scl_lua_set_boolean(L, "low_open", (facts.range & SCL_RANGE_LOW_OPEN) != 0);
  scl_lua_set_boolean(L, "high_open", (facts.range & SCL_RANGE_HIGH_OPEN) != 0);
  SCL_LUA_NUMBERS(L, {"low", any ? -INFINITY : facts.low}, {"high", any ? INFINITY : facts.high},
                  {"lipschitz", facts.lipschitz}, {"largest_curvature", facts.curvature});
  scl_lua_set_boolean(L, "curvature", scl_loss_offers(loss, SCL_LOSS_SLOT_CURVATURE));
  scl_lua_set_boolean(L, "conjugate", scl_loss_offers(loss, SCL_LOSS_SLOT_CONJUGATE));
  scl_lua_set_boolean(L, "proximal", scl_instance_has(loss, SCL_ABILITY_LOSS_PROXIMAL));
  scl_lua_set_boolean(L, "probability", scl_instance_has(loss, SCL_ABILITY_LOSS_PROBABILITY));
  scl_lua_set_boolean(L, "mean", scl_instance_has(loss, SCL_ABILITY_LOSS_MEAN));
  return 1;
}

SCL_LUA_CALLS(scl_checker_loss_calls, {"loss_call", call_loss, 7}, {"loss_facts", loss_facts, 1});
