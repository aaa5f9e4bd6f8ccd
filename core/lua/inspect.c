/* scullery.core: declared properties of instances: shapes, laws, facts, parameter spaces. The
 * library decides by them (which samplers a nonlinearity accepts, which bounds hold), the checker
 * and the tests compare them with what an instance computes. */
#include "lua/handle.h"
#include "map/parameters.h"
#include "map/space.h"
#include "plugin/kernel.h"
#include "plugin/nonlinearity.h"
#include <string.h>

/* The field `spaces` of the table on top: { NAME = true } for each bit. */
static void set_spaces(lua_State *L, uint32_t spaces) {
  lua_newtable(L);
  for (scl_space i = 0; i < scl_space_count(); i++)
    if (spaces & SCL_BIT(i)) scl_lua_set_boolean(L, scl_space_name(i), true);
  lua_setfield(L, -2, "spaces");
}

/* core.spaces() -> list of {name, summary, seen = the space that kernels are shown,
 * names_columns} */
static int spaces(lua_State *L) {
  lua_newtable(L);
  for (scl_space i = 0; i < scl_space_count(); i++) {
    const scl_space_rule *rule = scl_space_of(i);
    lua_newtable(L);
    SCL_LUA_TEXTS(L, {"name", scl_space_name(i)}, {"summary", rule->summary},
                  {"seen", scl_space_name(rule->seen)});
    scl_lua_set_boolean(L, "names_columns", rule->names_columns);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* core.shape(nonlinearity) -> {fan_in, fan_out, float32, one_hot, phase, spaces, tags} */
static int shape(lua_State *L) {
  const scl_instance *phi = scl_lua_check_instance(L, 1, SCL_KIND_NONLINEARITY);
  scl_shape s = {0};
  SCL_LUA_TRY(L, scl_nonlinearity_shape(phi, &s, &error));
  lua_newtable(L);
  SCL_LUA_INTEGERS(L, {"fan_in", s.fan_in}, {"fan_out", s.fan_out});
  SCL_LUA_BOOLEANS(L, {"float32", s.dtypes & SCL_BIT(SCL_DTYPE_FLOAT32)},
                   {"one_hot", s.flags & SCL_SHAPE_ONE_HOT}, {"phase", s.flags & SCL_SHAPE_PHASE});
  scl_lua_set_text(L, "tags", s.tags);
  set_spaces(L, s.spaces);
  return 1;
}

/* core.facts(nonlinearity) -> {bound, lipschitz, breaks, scale_free}, infinite where it declares
 * none */
static int facts(lua_State *L) {
  const scl_ability_facts f =
      scl_nonlinearity_facts(scl_lua_check_instance(L, 1, SCL_KIND_NONLINEARITY));
  lua_newtable(L);
  SCL_LUA_NUMBERS(L, {"bound", f.bound}, {"lipschitz", f.lipschitz});
  scl_lua_set_list(L, "breaks", f.breaks, f.n_breaks);
  scl_lua_set_boolean(L, "scale_free", f.scale_free != 0);
  return 1;
}

/* core.two_valued(nonlinearity) -> {low, high, zero_is_high}, or nil */
static int two_valued(lua_State *L) {
  scl_ability_two_valued values;
  if (!scl_nonlinearity_two_valued(scl_lua_check_instance(L, 1, SCL_KIND_NONLINEARITY), &values))
    return 0;
  lua_newtable(L);
  SCL_LUA_NUMBERS(L, {"low", values.low}, {"high", values.high});
  scl_lua_set_boolean(L, "zero_is_high", values.zero_is_high != 0);
  return 1;
}

/* core.layout(sampler, dim[, T]) -> {space, reals, integers, block, has_bias, count, tag,
 * dependent} */
static int layout(lua_State *L) {
  const scl_instance *sampler = scl_lua_check_instance(L, 1, SCL_KIND_SAMPLER);
  const size_t dim = scl_lua_check_size(L, 2, 0, INT32_MAX, "d"),
               count = scl_lua_opt_size(L, 3, 0, INT32_MAX, "T", 0);
  scl_layout l;
  SCL_LUA_TRY(L, scl_parameters_layout(sampler, dim, count, &l, &error));
  lua_newtable(L);
  scl_lua_set_text(L, "space", scl_space_name(l.space));
  SCL_LUA_INTEGERS(L, {"reals", l.reals}, {"integers", l.integers}, {"block", l.block},
                   {"count", l.count});
  SCL_LUA_BOOLEANS(L, {"has_bias", l.has_bias != 0}, {"dependent", l.flags & SCL_LAYOUT_DEPENDENT});
  scl_lua_set_text(L, "tag", l.tag);
  return 1;
}

/* core.law(sampler, dim[, state that it learnt]) -> {family, mean, scale, shape, bias, bias_a,
 * bias_b, degree, degree_scale}, or nil where it declares no law */
static int law(lua_State *L) {
  static const char *const families[] = {"other",   "gaussian", "uniform", "rademacher",
                                         "laplace", "cauchy",   "student", "spherical"};
  static const char *const biases[] = {"none", "uniform", "gaussian"};
  scl_instance *sampler = scl_lua_check_instance(L, 1, SCL_KIND_SAMPLER);
  const size_t dim = scl_lua_check_size(L, 2, 1, 1 << 20, "d");
  const scl_matrix *state = lua_isnoneornil(L, 3) ? NULL : scl_lua_hold_matrix(L, 3);
  const scl_origin origin = scl_origin_of(sampler, dim, 0, 0, 0, state);
  scl_law_set set;
  if (!scl_sampler_has_law(sampler)) return 0;
  double *copy = lua_newuserdatauv(L, (4 * dim + 4) * sizeof *copy, 0);
  SCL_LUA_TRY(L, scl_law_create(&origin, &set, &error));
  const scl_law l = set.law;
  memcpy(copy, set.memory, (4 * dim + 4) * sizeof *copy);
  scl_law_release(&set);
  lua_newtable(L);
  SCL_LUA_TEXTS(L, {"family", families[l.family]}, {"bias", biases[l.bias]});
  SCL_LUA_NUMBERS(L, {"bias_a", l.bias_a}, {"bias_b", l.bias_b}, {"shape", l.shape});
  scl_lua_set_list(L, "mean", copy, dim);
  scl_lua_set_list(L, "scale", copy + dim, dim);
  if (!scl_space_of(l.space)->by_degree) return 1;
  scl_lua_set_list(L, "degree", copy + 2 * dim, dim + 1); /* place s + 1 holds in-degree s */
  scl_lua_set_list(L, "degree_scale", copy + 3 * dim + 1, dim + 1);
  return 1;
}

/* core.kernel_spaces(kernel) -> {dense = true, ...} */
static int kernel_spaces(lua_State *L) {
  const scl_instance *kernel = scl_lua_check_instance(L, 1, SCL_KIND_KERNEL);
  lua_newtable(L);
  set_spaces(L, scl_kernel_spaces(kernel));
  lua_getfield(L, -1, "spaces");
  return 1;
}

SCL_LUA_CALLS(scl_lua_inspect_calls, {"spaces", spaces, 0}, {"shape", shape, 1},
              {"facts", facts, 1}, {"two_valued", two_valued, 1}, {"layout", layout, 3},
              {"law", law, 3}, {"kernel_spaces", kernel_spaces, 1});
