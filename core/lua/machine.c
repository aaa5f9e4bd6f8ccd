/* scullery.core: the machine: threads, memory, instruction set, the rates that it reaches at most
 * (algebra/ceiling.h, for `scullery bench`), and switches that tests use. */
#include "algebra/ceiling.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/progress.h"
#include "data/files/input.h"
#include "lua/call.h"
#include "map/map.h"
#include "rows/ways.h"

/* core.threads([count]) -> the number of threads that the engine uses, after setting it */
static int threads(lua_State *L) {
  if (!lua_isnoneornil(L, 1))
    scl_pool_set_threads(scl_lua_check_size(L, 1, 1, SCL_POOL_MAX, "threads"));
  return scl_lua_give_size(L, scl_pool_threads());
}

/* core.ceiling("gemm" | "syrk", dtype, n) -> GFLOP/s */
static int ceiling(lua_State *L) {
  static const char *const kinds[] = {"gemm", "syrk", NULL};
  double gflops;
  const bool syrk = luaL_checkoption(L, 1, NULL, kinds) == 1;
  SCL_LUA_TRY(L, scl_ceiling(syrk, scl_lua_check_dtype(L, 2),
                             scl_lua_check_size(L, 3, 1, 10000, "n"), &gflops, &error));
  return scl_lua_give_number(L, gflops);
}

/* core.ceiling_features(dtype, blocks, rows, d, features, "none" | "copy" | "cos") -> seconds */
static int ceiling_features(lua_State *L) {
  double seconds;
  size_t size[4];
  for (int i = 0; i < 4; i++)
    size[i] = scl_lua_check_size(L, i + 2, 1, 1 << 24, "a size");
  SCL_LUA_TRY(L, scl_ceiling_features(scl_lua_check_dtype(L, 1), size[0], size[1], size[2], size[3],
                                      luaL_optstring(L, 6, "none"), &seconds, &error));
  return scl_lua_give_number(L, seconds);
}

/* core.ceiling_rates(n) -> potrf (operations), memory (bytes read), counts (products of bits), each
 * a second */
static int ceiling_rates(lua_State *L) {
  scl_rates rates;
  SCL_LUA_TRY(L, scl_ceiling_rates(scl_lua_check_size(L, 1, 1, 10000, "n"), &rates, &error));
  lua_pushnumber(L, rates.potrf);
  lua_pushnumber(L, rates.memory);
  lua_pushnumber(L, rates.counts);
  return 3;
}

/* core.ceiling_gram(rows, features) -> seconds of float32 numbers, of the same by OpenBLAS's ssyrk,
 * seconds of bits */
static int ceiling_gram(lua_State *L) {
  scl_gram_seconds seconds;
  SCL_LUA_TRY(L,
              scl_ceiling_gram(scl_lua_check_size(L, 1, 1, 1 << 24, "rows"),
                               scl_lua_check_size(L, 2, 1, 1 << 16, "features"), &seconds, &error));
  lua_pushnumber(L, seconds.numbers);
  lua_pushnumber(L, seconds.openblas);
  lua_pushnumber(L, seconds.bits);
  return 3;
}

/* core.ceiling_whole("int8" | "int16", rows, features) -> seconds of whole numbers, of as many
 * float32 numbers by OpenBLAS's ssyrk */
static int ceiling_whole(lua_State *L) {
  static const char *const names[] = {"int8", "int16", NULL};
  const scl_whole type =
      luaL_checkoption(L, 1, NULL, names) == 0 ? SCL_WHOLE_INT8 : SCL_WHOLE_INT16;
  scl_whole_seconds seconds;
  SCL_LUA_TRY(L, scl_ceiling_whole(type, scl_lua_check_size(L, 2, 1, 1 << 24, "rows"),
                                   scl_lua_check_size(L, 3, 1, 1 << 16, "features"), &seconds,
                                   &error));
  lua_pushnumber(L, seconds.whole);
  lua_pushnumber(L, seconds.openblas);
  return 2;
}

/* Read the input to its end, in pieces of 256 KB. *bytes: how many there were, unpacked. */
static scl_status read_all(scl_input *input, double *bytes, scl_error *error) {
  enum { SOME = 1 << 18 };
  char *text = scl_allocate(SOME);
  scl_status status = text == NULL ? scl_fail_memory(error, SOME, "text") : SCL_STATUS_OK;
  size_t got = 1;
  for (*bytes = 0; status == SCL_STATUS_OK && got > 0; *bytes += (double)got)
    status = scl_input_read(input, text, SOME, &got, error);
  scl_release(text);
  return status;
}

/* core.ceiling_file(path) -> seconds to read and unpack a file, bytes */
static int ceiling_file(lua_State *L) {
  scl_input *input = NULL;
  scl_error error = {0};
  double bytes = 0;
  const char *path = scl_lua_check_path(L, 1);
  const double began = scl_progress_clock();
  scl_status status = scl_input_open(path, &input, &error);
  if (status == SCL_STATUS_OK) status = read_all(input, &bytes, &error);
  scl_input_close(input);
  scl_lua_check(L, status, &error);
  lua_pushnumber(L, scl_progress_clock() - began);
  lua_pushnumber(L, bytes);
  return 2;
}

/* core.memory([reset]) -> bytes allocated now, most bytes allocated since the last reset */
static int memory(lua_State *L) {
  if (lua_toboolean(L, 1)) scl_allocated_peak_reset();
  return SCL_LUA_GIVE_SIZES(L, scl_allocated(), scl_allocated_peak());
}

/* core.instruction_set() -> the name of the vector loops in use: "plain", "avx2" or "avx512" */
static int instruction_set(lua_State *L) { return scl_lua_give_text(L, scl_loops_get()->name); }

/* core.bits([use]) -> whether features that take two values are kept as bits, how they are
 * counted */
static int bits(lua_State *L) {
  if (!lua_isnoneornil(L, 1)) {
    luaL_checktype(L, 1, LUA_TBOOLEAN);
    scl_map_use_bits(lua_toboolean(L, 1));
  }
  lua_pushboolean(L, scl_map_uses_bits());
  lua_pushstring(L, scl_bits_way());
  return 2;
}

/* core.levels([use]) -> whether columns of few values are summed by their values */
static int levels(lua_State *L) {
  if (!lua_isnoneornil(L, 1)) {
    luaL_checktype(L, 1, LUA_TBOOLEAN);
    scl_ways_use_levels(lua_toboolean(L, 1));
  }
  return scl_lua_give_boolean(L, scl_ways_levels_used());
}

/* core.fail_allocation_after(count): tests only; -1 turns it off */
static int fail_allocation_after(lua_State *L) {
  scl_allocate_fail_after((long)luaL_checkinteger(L, 1));
  return 0;
}

/* core.spoil_allocations(spoil): tests only; memory that is not set holds NaN */
static int spoil_allocations(lua_State *L) {
  luaL_checktype(L, 1, LUA_TBOOLEAN);
  scl_allocate_spoil(lua_toboolean(L, 1));
  return 0;
}

/* core.clock(), core.now() -> seconds on a clock that never goes back */
static int monotonic(lua_State *L) { return scl_lua_give_number(L, scl_progress_clock()); }

/* core.interrupt(): set the flag of Ctrl-C, for tests */
static int interrupt(lua_State *L) {
  (void)L;
  scl_interrupt();
  return 0;
}

SCL_LUA_CALLS(scl_lua_machine_calls, {"ceiling", ceiling, 3},
              {"ceiling_features", ceiling_features, 6}, {"ceiling_rates", ceiling_rates, 1},
              {"ceiling_gram", ceiling_gram, 2}, {"ceiling_whole", ceiling_whole, 3},
              {"ceiling_file", ceiling_file, 1}, {"threads", threads, -1}, {"memory", memory, -1},
              {"instruction_set", instruction_set, -1}, {"bits", bits, -1}, {"levels", levels, -1},
              {"clock", monotonic, -1}, {"now", monotonic, -1},
              {"fail_allocation_after", fail_allocation_after, -1},
              {"spoil_allocations", spoil_allocations, -1}, {"interrupt", interrupt, -1});
