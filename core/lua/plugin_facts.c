/* scullery.core: facts for `scullery plugin info`: the constants in a plugin's descriptor and
 * tables, and the symbols of its file. Nothing here calls the plugin: it reads tables, which were
 * checked when the plugin was loaded. */
#include "lua/handle.h"
#include "plugin/registry.h"
#include "plugin/stage.h"
#include "plugin/symbols.h"
#include <math.h>
#include <string.h>

/* The names of the bits that are set, as a list in the field `key`. */
static void set_bits(lua_State *L, const char *key, uint32_t bits, const char *const *names,
                     uint32_t count) {
  lua_Integer found = 0;
  lua_newtable(L);
  for (uint32_t i = 0; i < count; i++) {
    if ((bits & SCL_BIT(i)) == 0) continue;
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, ++found);
  }
  lua_setfield(L, -2, key);
}

static void set_spaces(lua_State *L, uint32_t spaces) {
  const char *names[5];
  for (int i = 0; i < 5; i++)
    names[i] = scl_space_name(i);
  set_bits(L, "spaces", spaces, names, 5);
}

/* A table of 0 means float64 alone. */
static void set_dtypes(lua_State *L, uint32_t dtypes) {
  static const char *const names[] = {"float64", "float32"};
  const uint32_t usual = SCL_BIT(SCL_DTYPE_FLOAT64);
  set_bits(L, "dtypes", dtypes == 0 ? usual : dtypes, names, 2);
}

/* The fields of each kind, from the kind's own table. */

/* form, spaces, family, and normals of the simple form. */
static void set_sampler(lua_State *L, const void *vtable) {
  const scl_sampler *table = vtable;
  static const char *const families[] = {"other",   "gaussian", "uniform", "Rademacher",
                                         "Laplace", "Cauchy",   "Student", "spherical"};
  scl_lua_set_text(L, "form", table->make != NULL ? "simple" : "general");
  set_spaces(L, SCL_BIT(table->space));
  if ((size_t)table->family < sizeof families / sizeof *families)
    scl_lua_set_text(L, "family", families[table->family]);
  if (table->make != NULL) scl_lua_set_integer(L, "normals", table->normals);
}

/* form, spaces, dtypes, flags, fan_in, fan_out, tags, and whether options may change the shape
 * (amended). A table of 0 means one number. */
static void set_nonlinearity(lua_State *L, const void *vtable) {
  const scl_nonlinearity *table = vtable;
  static const char *const flags[] = {"one-hot", "phase"};
  scl_lua_set_text(L, "form", table->loop != NULL ? "simple" : "general");
  set_spaces(L, table->spaces);
  set_dtypes(L, table->loop != NULL ? SCL_BIT(SCL_DTYPE_FLOAT64) | SCL_BIT(SCL_DTYPE_FLOAT32)
                                    : table->dtypes);
  set_bits(L, "flags", table->flags, flags, 2);
  if (table->fan_in == SCL_FAN_IN_ALL)
    scl_lua_set_text(L, "fan_in", "all planes");
  else
    SCL_LUA_INTEGERS(L, {"fan_in", table->fan_in == 0 ? 1 : table->fan_in},
                     {"fan_out", table->fan_out == 0 ? 1 : table->fan_out});
  scl_lua_set_text(L, "tags", table->tags);
  scl_lua_set_boolean(L, "amended", table->shape != NULL);
}

/* form, spaces, and pair: the number of two rows that the simple form is a function of. */
static void set_kernel(lua_State *L, const void *vtable) {
  const scl_kernel *table = vtable;
  static const char *const pairs[] = {
      "none", "inner product", "squared distance", "absolute distance", "cosine", "angle"};
  scl_lua_set_text(L, "form", table->gram == NULL ? "simple" : "general");
  set_spaces(L, table->spaces);
  if (table->gram == NULL) scl_lua_set_text(L, "pair", pairs[table->pair]);
}

/* dtypes, and whether it solves. */
static void set_solver(lua_State *L, const void *vtable) {
  const scl_solver *table = vtable;
  set_dtypes(L, table->dtypes);
  scl_lua_set_boolean(L, "solves", table->solve != NULL);
}

/* Whether a launcher starts the processes. */
static void set_transport(lua_State *L, const void *vtable) {
  const scl_transport *table = vtable;
  scl_lua_set_boolean(L, "launcher", table->launched != NULL);
}

/* form, flags, arrays: the names of what it learns. */
static void set_stage(lua_State *L, const void *vtable) {
  const scl_stage *table = vtable;
  static const char *const flags[] = {"targets", "scale-free", "homogeneous", "by-column"};
  scl_lua_set_text(L, "form", table->column != NULL ? "simple" : "general");
  set_bits(L, "flags", table->flags, flags, 4);
  scl_lua_set_text(L, "arrays", scl_stage_arrays_of(table));
}

/* form, needs, better, low, high, and most_classes where there is a limit. */
static void set_metric(lua_State *L, const void *vtable) {
  const scl_metric *table = vtable;
  static const char *const needs[] = {"values", "labels", "scores", "probabilities"};
  SCL_LUA_TEXTS(L, {"form", table->row != NULL ? "simple" : "general"},
                {"needs", needs[table->needs]},
                {"better", table->better == SCL_BETTER_LARGER ? "larger" : "smaller"});
  const bool limited = table->low < table->high;
  SCL_LUA_NUMBERS(L, {"low", limited ? table->low : -INFINITY},
                  {"high", limited ? table->high : INFINITY});
  if (table->most_classes > 0) scl_lua_set_integer(L, "most_classes", table->most_classes);
}

/* targets: "numbers", "classes" or both; kinks: whether the slope jumps; amended: whether facts
 * depend on options. */
static void set_loss(lua_State *L, const void *vtable) {
  const scl_loss *table = vtable;
  static const char *const targets[] = {"none", "numbers", "classes", "numbers and classes"};
  scl_lua_set_text(L, "targets",
                   targets[table->targets & (SCL_TARGETS_NUMBERS | SCL_TARGETS_CLASSES)]);
  scl_lua_set_boolean(L, "kinks", (table->flags & SCL_LOSS_KINKS) != 0);
  scl_lua_set_boolean(L, "amended", table->facts != NULL);
}

/* format: what its files are; whether it chooses columns, and begins at parts. */
static void set_reader(lua_State *L, const void *vtable) {
  const scl_reader *table = vtable;
  scl_lua_set_text(L, "format", table->format);
  scl_lua_set_boolean(L, "chooses_columns", table->choose != NULL);
  scl_lua_set_boolean(L, "seeks", table->seek != NULL);
}

/* By kind. A kind without a row has the fields that all kinds have. */
static void (*const set_table[SCL_KINDS])(lua_State *L, const void *vtable) = {
    [SCL_KIND_SAMPLER] = set_sampler,     [SCL_KIND_NONLINEARITY] = set_nonlinearity,
    [SCL_KIND_KERNEL] = set_kernel,       [SCL_KIND_SOLVER] = set_solver,
    [SCL_KIND_TRANSPORT] = set_transport, [SCL_KIND_STAGE] = set_stage,
    [SCL_KIND_METRIC] = set_metric,       [SCL_KIND_LOSS] = set_loss,
    [SCL_KIND_READER] = set_reader,
};

/* abilities = the ids that the descriptor lists; and of a nonlinearity that declares its facts,
 * facts = {bound =, lipschitz =, breaks = {}, scale_free =}. */
static void set_abilities(lua_State *L, const scl_plugin *plugin) {
  const scl_ability_facts *facts = NULL;
  lua_Integer count = 0;
  lua_newtable(L);
  for (const scl_ability *one = plugin->abilities; one != NULL && one->id != NULL; one++) {
    if (facts == NULL && strcmp(one->id, SCL_ABILITY_FACTS) == 0) facts = one->table;
    lua_pushstring(L, one->id);
    lua_rawseti(L, -2, ++count);
  }
  lua_setfield(L, -2, "abilities");
  if (facts == NULL) return;
  lua_newtable(L);
  SCL_LUA_NUMBERS(L, {"bound", facts->bound}, {"lipschitz", facts->lipschitz});
  scl_lua_set_boolean(L, "scale_free", facts->scale_free != 0);
  scl_lua_set_list(L, "breaks", facts->breaks, facts->n_breaks);
  lua_setfield(L, -2, "facts");
}

/* core.plugin_facts(kind, name) -> {interface, descriptor = bytes of the descriptor, instance =
 * bytes of an instance, depends = whether some abilities depend on options, abilities = ids of
 * those that do not, and the fields of the kind: form, spaces, dtypes, ...} */
static int plugin_facts(lua_State *L) {
  const scl_component *component = scl_lua_check_component(L, 1);
  const scl_plugin *plugin = &component->plugin;
  lua_newtable(L);
  SCL_LUA_INTEGERS(L, {"interface", plugin->head.abi}, {"descriptor", plugin->head.size},
                   {"instance", plugin->instance_size});
  scl_lua_set_boolean(L, "depends", plugin->ability != NULL);
  set_abilities(L, plugin);
  if (set_table[plugin->kind] != NULL) set_table[plugin->kind](L, component->vtable);
  return 1;
}

/* ------------ symbols of a file */

/* Add the symbol to the list on top of the stack. */
static void list_symbol(void *context, const scl_symbol *symbol) {
  lua_State *L = context;
  lua_newtable(L);
  scl_lua_set_text(L, "name", symbol->name);
  SCL_LUA_BOOLEANS(L, {"defined", symbol->defined}, {"weak", symbol->weak});
  if (!symbol->defined) scl_lua_set_text(L, "giver", scl_symbol_giver(symbol->name));
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* core.symbols(path) -> the global symbols of a shared object, a list of { name, defined, weak,
 * giver = the object that an undefined symbol comes from } */
static int symbols(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  lua_newtable(L);
  SCL_LUA_TRY(L, scl_symbols_each(path, list_symbol, L, &error));
  return 1;
}

SCL_LUA_CALLS(scl_lua_plugin_facts_calls, {"plugin_facts", plugin_facts, 2},
              {"symbols", symbols, 1});
