/* scullery.core: what components say of themselves, for tests, checks and help: shapes, laws,
 * facts. */
#include "lua/handle.h"
#include "map/map.h"

#include <math.h>
#include <string.h>

static const char *const space_names[SCL_SPACE_COUNT] = {"dense", "sparse", "threshold", "grid",
                                                         "structured"};

static void set_number(lua_State *L, const char *key, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}
static void set_integer(lua_State *L, const char *key, size_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, key);
}
static void set_boolean(lua_State *L, const char *key, bool value) {
  lua_pushboolean(L, value);
  lua_setfield(L, -2, key);
}
static void set_list(lua_State *L, const char *key, const double *list, size_t count) {
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushnumber(L, list[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, key);
}
static void set_spaces(lua_State *L, unsigned spaces) {
  lua_newtable(L);
  for (int i = 0; i < SCL_SPACE_COUNT; i++)
    if (spaces & (1u << (unsigned)i)) set_boolean(L, space_names[i], true);
  lua_setfield(L, -2, "spaces");
}

static const scl_instance *check_instance(lua_State *L, scl_kind kind) {
  const scl_instance *instance = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  if (instance->component->plugin->kind != kind)
    luaL_error(L, "this is no %s", scl_kind_name(kind));
  return instance;
}

/* core.shape(nonlinearity) -> {fan_in, fan_out, float32, one_hot, needs_phase, spaces} */
static int shape(lua_State *L) {
  const scl_instance *phi = check_instance(L, SCL_KIND_NONLINEARITY);
  const scl_nonlinearity *table = scl_instance_vtable(phi);
  scl_shape s = {0};
  scl_error error = {0};
  scl_lua_check(L, scl_instance_prefix(phi, table->shape(phi->self, &s, &error), &error), &error);
  lua_newtable(L);
  set_integer(L, "fan_in", s.fan_in);
  set_integer(L, "fan_out", s.fan_out);
  set_boolean(L, "float32", s.float32 != 0);
  set_boolean(L, "one_hot", s.one_hot != 0);
  set_boolean(L, "needs_phase", s.needs_phase != 0);
  set_spaces(L, s.spaces);
  return 1;
}

/* core.facts(nonlinearity) -> {bound, lipschitz, breaks, scale_free}, or nil where it tells none */
static int facts(lua_State *L) {
  const scl_instance *phi = check_instance(L, SCL_KIND_NONLINEARITY);
  const scl_ability_facts *ability = scl_instance_ability(phi, SCL_ABILITY_FACTS);
  scl_facts f = {0};
  if (ability == NULL) return 0;
  ability->facts(phi->self, &f);
  lua_newtable(L);
  set_number(L, "bound", f.bound);
  set_number(L, "lipschitz", f.lipschitz);
  set_list(L, "breaks", f.breaks, scl_min(f.n_breaks, 4));
  set_boolean(L, "scale_free", f.scale_free != 0);
  return 1;
}

/* core.layout(sampler, dim) -> {space, width, support, block, has_bias} */
static int layout(lua_State *L) {
  const scl_instance *sampler = check_instance(L, SCL_KIND_SAMPLER);
  scl_layout l;
  scl_error error = {0};
  scl_lua_check(
      L, scl_parameters_layout(sampler, scl_lua_check_size(L, 2, 0, INT32_MAX, "d"), &l, &error),
      &error);
  lua_newtable(L);
  lua_pushstring(L, space_names[l.space]);
  lua_setfield(L, -2, "space");
  set_integer(L, "width", l.width);
  set_integer(L, "support", l.support);
  set_integer(L, "block", l.block);
  set_boolean(L, "has_bias", l.has_bias != 0);
  return 1;
}

/* core.law(sampler, dim) -> {family, mean, scale, shape, bias, bias_a, bias_b, degree,
 * degree_scale}, or nil where it tells none */
static int law(lua_State *L) {
  static const char *const families[] = {"gaussian", "uniform", "rademacher", "laplace",
                                         "cauchy",   "student", "spherical",  "other"};
  static const char *const biases[] = {"none", "uniform", "gaussian"};
  const scl_instance *sampler = check_instance(L, SCL_KIND_SAMPLER);
  const size_t dim = scl_lua_check_size(L, 2, 1, 1 << 20, "d");
  scl_law_set set;
  scl_error error = {0};
  if (scl_instance_ability(sampler, SCL_ABILITY_LAW) == NULL) return 0;
  double *copy = lua_newuserdatauv(L, (4 * dim + 4) * sizeof *copy, 0);
  scl_lua_check(L, scl_law_create(sampler, dim, &set, &error), &error);
  const scl_law l = set.law;
  memcpy(copy, set.memory, (4 * dim + 4) * sizeof *copy);
  scl_law_release(&set);
  lua_newtable(L);
  lua_pushstring(L, (unsigned)l.family < 8 ? families[l.family] : "other");
  lua_setfield(L, -2, "family");
  lua_pushstring(L, (unsigned)l.bias < 3 ? biases[l.bias] : "none");
  lua_setfield(L, -2, "bias");
  set_number(L, "bias_a", l.bias_a);
  set_number(L, "bias_b", l.bias_b);
  set_number(L, "shape", l.shape);
  set_list(L, "mean", copy, dim);
  set_list(L, "scale", copy + dim, dim);
  if (l.space != SCL_SPACE_SPARSE) return 1;
  set_list(L, "degree", copy + 2 * dim, dim + 1); /* place s + 1 holds in-degree s */
  set_list(L, "degree_scale", copy + 3 * dim + 1, dim + 1);
  return 1;
}

/* core.kernel_spaces(kernel) -> {dense = true, ...} */
static int kernel_spaces(lua_State *L) {
  const scl_instance *kernel = check_instance(L, SCL_KIND_KERNEL);
  const scl_kernel *table = scl_instance_vtable(kernel);
  lua_newtable(L);
  set_spaces(L, table->spaces);
  lua_getfield(L, -1, "spaces");
  return 1;
}

void scl_lua_open_inspect(lua_State *L) {
  static const luaL_Reg functions[] = {{"shape", shape},
                                       {"facts", facts},
                                       {"layout", layout},
                                       {"law", law},
                                       {"kernel_spaces", kernel_spaces},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
