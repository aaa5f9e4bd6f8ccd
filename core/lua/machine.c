/* scullery.core: the machine: threads, memory, instruction set, and what it can do at most. */
#include "algebra/ceiling.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/progress.h"
#include "lua/call.h"
#include "map/map.h"

static int threads(lua_State *L) {
  if (!lua_isnoneornil(L, 1))
    scl_pool_set_threads(scl_lua_check_size(L, 1, 1, SCL_POOL_MAX, "threads"));
  lua_pushinteger(L, (lua_Integer)scl_pool_threads());
  return 1;
}

/* core.ceiling("gemm" | "syrk", dtype, n) -> GFLOP/s */
static int ceiling(lua_State *L) {
  static const char *const kinds[] = {"gemm", "syrk", NULL};
  double gflops;
  scl_error error = {0};
  const bool syrk = luaL_checkoption(L, 1, NULL, kinds) == 1;
  scl_lua_check(L,
                scl_ceiling(syrk, scl_lua_check_dtype(L, 2),
                            scl_lua_check_size(L, 3, 1, 10000, "n"), &gflops, &error),
                &error);
  lua_pushnumber(L, gflops);
  return 1;
}

/* core.ceiling_features(dtype, blocks, rows, d, features, "none" | "copy" | "cos") -> seconds */
static int ceiling_features(lua_State *L) {
  double seconds;
  size_t size[4];
  scl_error error = {0};
  for (int i = 0; i < 4; i++)
    size[i] = scl_lua_check_size(L, i + 2, 1, 1 << 24, "a size");
  scl_lua_check(L,
                scl_ceiling_features(scl_lua_check_dtype(L, 1), size[0], size[1], size[2], size[3],
                                     luaL_optstring(L, 6, "none"), &seconds, &error),
                &error);
  lua_pushnumber(L, seconds);
  return 1;
}

/* core.ceiling_gram(rows, features) -> seconds of float32 numbers, seconds of bits */
static int ceiling_gram(lua_State *L) {
  double numbers, counted;
  scl_error error = {0};
  scl_lua_check(L,
                scl_ceiling_gram(scl_lua_check_size(L, 1, 1, 1 << 24, "rows"),
                                 scl_lua_check_size(L, 2, 1, 1 << 16, "features"), &numbers,
                                 &counted, &error),
                &error);
  lua_pushnumber(L, numbers);
  lua_pushnumber(L, counted);
  return 2;
}

static int memory(lua_State *L) {
  if (lua_toboolean(L, 1)) scl_allocated_peak_reset();
  lua_pushinteger(L, (lua_Integer)scl_allocated());
  lua_pushinteger(L, (lua_Integer)scl_allocated_peak());
  return 2;
}

static int instruction_set(lua_State *L) {
  lua_pushstring(L, scl_loops_get()->name);
  return 1;
}

/* core.bits([use]) -> whether features that take two values are kept as bits, how they are counted */
static int bits(lua_State *L) {
  if (!lua_isnoneornil(L, 1)) {
    luaL_checktype(L, 1, LUA_TBOOLEAN);
    scl_map_use_bits(lua_toboolean(L, 1));
  }
  lua_pushboolean(L, scl_map_uses_bits());
  lua_pushstring(L, scl_bits_way());
  return 2;
}

/* core.fail_allocation_after(count): tests only; -1 turns it off */
static int fail_allocation_after(lua_State *L) {
  scl_allocate_fail_after((long)luaL_checkinteger(L, 1));
  return 0;
}

static int monotonic(lua_State *L) {
  lua_pushnumber(L, scl_progress_clock());
  return 1;
}

static int interrupt(lua_State *L) {
  (void)L;
  scl_interrupt();
  return 0;
}

void scl_lua_open_machine(lua_State *L) {
  SCL_LUA_CALLS(L, {"ceiling", ceiling, 3}, {"ceiling_features", ceiling_features, 6},
                {"ceiling_gram", ceiling_gram, 2});
  SCL_LUA_FUNCTIONS(L, {"threads", threads}, {"memory", memory},
                    {"instruction_set", instruction_set}, {"bits", bits}, {"clock", monotonic},
                    {"fail_allocation_after", fail_allocation_after}, {"interrupt", interrupt});
}
