/* scullery.core: components by kind and name: their declarations, their options, their instances,
 * and the registry of plugins (listing, loading, finding). An instance is a component with values
 * for all its options; lua/scullery/compose makes it when it is needed. */
#define _GNU_SOURCE
#include "base/installation.h"
#include "lua/handle.h"
#include "lua/options.h"
#include "plugin/folders.h"
#include "plugin/registry.h"
#include "plugin/solver.h"
#include "plugin/tables.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The kind of components whose name is at `place`. */
static scl_kind check_kind(lua_State *L, int place) {
  scl_kind kind;
  const char *name = luaL_checkstring(L, place);
  if (!scl_kind_find(name, &kind))
    luaL_error(L,
               "unknown kind of plugin '%s'; there are sampler, nonlinearity, kernel, solver, "
               "transport, stage, metric, loss, reader",
               name);
  return kind;
}

/* core.plugin_kinds() -> a list of the names of all kinds */
static int plugin_kinds(lua_State *L) {
  lua_newtable(L);
  for (int i = 0; i < SCL_KINDS; i++) {
    lua_pushstring(L, scl_kind_name((scl_kind)i));
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

const scl_component *scl_lua_check_component(lua_State *L, int place) {
  const scl_component *component;
  const scl_kind kind = check_kind(L, place);
  SCL_LUA_TRY(L, scl_registry_find(kind, luaL_checkstring(L, place + 1), &component, &error));
  return component;
}

/* ------------ instances */

/* The options at `place` of the component, checked. Its errors begin with "KIND.NAME". */
static scl_settings check_settings(lua_State *L, const scl_component *component, int place) {
  const scl_plugin *plugin = &component->plugin;
  const char *title = lua_pushfstring(L, "%s.%s", scl_kind_name(plugin->kind), plugin->name);
  return scl_lua_check_settings(L, place, title, component->options, plugin->n_options);
}

static void release_instance(void *instance) { scl_instance_release(instance); }

/* Options such as gamma = "median" depend on the rows, so an instance can be made only when
 * they are known.
 *
 * core.waiting(kind, name, options) -> "scale", "median" or nil: validates, and says whether a
 * width waits for the data */
static int plugin_waiting(lua_State *L) {
  const scl_component *component = scl_lua_check_component(L, 1);
  scl_settings settings = check_settings(L, component, 3);
  const char *word = scl_settings_waiting(&settings);
  char kept[16] = "";
  if (word != NULL) (void)snprintf(kept, sizeof kept, "%s", word);
  scl_settings_destroy(&settings);
  return scl_lua_give_text(L, word == NULL ? NULL : kept);
}

/* core.instance(kind, name, options[, gamma_scale, gamma_median, columns]) -> instance */
static int plugin_instance(lua_State *L) {
  const scl_component *component = scl_lua_check_component(L, 1);
  const double scale = luaL_optnumber(L, 4, 1), median = luaL_optnumber(L, 5, 1);
  const size_t dim = lua_isnil(L, 6) ? 1 : scl_lua_check_size(L, 6, 0, INT32_MAX, "columns");
  scl_instance *instance;
  void **slot = scl_lua_new_handle(L, SCL_LUA_INSTANCE, release_instance);
  const int made = lua_gettop(L);
  scl_settings settings = check_settings(L, component, 3);
  scl_settings_set_widths(&settings, scale, median, dim);
  SCL_LUA_TRY(L, scl_instance_create(component, &settings, &instance, &error));
  *slot = instance;
  if (instance->script) scl_lua_mark_script(L, made);
  lua_pushvalue(L, made);
  return 1;
}

/* core.settings(instance) -> table of option -> value, defaults included, and the text as one would
 * type it */
static int plugin_settings(lua_State *L) {
  const scl_instance *instance = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  const scl_settings *settings = &instance->settings;
  const size_t size = 400 * (settings->count + 1);
  scl_lua_push_settings(L, settings);
  char *text = lua_newuserdatauv(L, size, 0);
  lua_pushstring(L, scl_settings_text(settings, text, size));
  lua_remove(L, -2);
  return 2;
}

/* core.solver_facts(solver) -> { path_option = the option of which it takes many values at once, or
 * nil, sparse_path_option = that on sparse rows, penalty = "none", "l2" ..., wants_intercept =
 * whether it fits a constant, makes_models = whether these are not linear in the features, has_loss,
 * outputs = scores of each target, gives_means = whether they become means in a regression, by_sums
 * = whether it needs sums over rows alone, shares_tiles, reads_csr } */
static int solver_facts(lua_State *L) {
  static const char *const names[] = {"none", "l2", "l1", "box", "rkhs", "signs"};
  const scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  const scl_penalty penalty = scl_solver_penalty(solver);
  const char *path = scl_solver_path_option(solver);
  /* sums do not depend on the numbers of rows and features */
  const scl_problem sums = {.head = SCL_HEAD(scl_problem), .rows = 2, .features = 1, .exact = 2};
  lua_createtable(L, 0, 9);
  SCL_LUA_TEXTS(
      L, {"path_option", scl_solver_path_sparse_only(solver) ? NULL : path},
      {"sparse_path_option", path},
      {"penalty", (unsigned)penalty < sizeof names / sizeof *names ? names[penalty] : "none"});
  SCL_LUA_INTEGERS(L, {"outputs", scl_solver_outputs(solver)});
  SCL_LUA_BOOLEANS(L, {"wants_intercept", scl_solver_wants_intercept(solver)},
                   {"makes_models", scl_instance_has(solver, SCL_ABILITY_MODEL)},
                   {"has_loss", scl_instance_has(solver, SCL_ABILITY_LOSS)},
                   {"reads_csr", scl_instance_has(solver, SCL_ABILITY_CSR_ROWS)},
                   {"gives_means", scl_solver_gives_means(solver)},
                   {"by_sums", scl_solver_needs_normal_alone(solver, &sums, NULL, 0, 0)},
                   {"shares_tiles", scl_instance_has(solver, SCL_ABILITY_SHARED_TILES)});
  return 1;
}

/* ------------ declarations */

/* What a component declares, as a table on the stack: see plugin_info. */
static void push_component(lua_State *L, const scl_component *component) {
  const scl_plugin *plugin = &component->plugin;
  lua_newtable(L);
  SCL_LUA_TEXTS(L, {"kind", scl_kind_name(plugin->kind)}, {"name", plugin->name},
                {"version", plugin->version}, {"author", plugin->author}, {"id", plugin->id},
                {"summary", plugin->summary}, {"doc", plugin->doc}, {"path", component->path},
                {"origin", scl_plugin_origin_name(component->origin)},
                {"digest", component->digest},
                {"definition", SCL_HAS(plugin, definition) ? plugin->definition : NULL});
  lua_newtable(L);
  for (size_t i = 0; i < plugin->n_options; i++) {
    scl_lua_push_option(L, &component->options[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "options");
}

/* core.plugin_info(kind, name) -> kind, name, version, author, id, summary, doc, path, origin,
 * digest (where a script defined it), definition, options */
static int plugin_info(lua_State *L) {
  push_component(L, scl_lua_check_component(L, 1));
  return 1;
}

/* core.option_name(kind, name, given) -> the present name of the option that was given, which may
 * be a former one; nil where there is none. A former name is told. */
static int option_name(lua_State *L) {
  const scl_component *component = scl_lua_check_component(L, 1);
  char title[120];
  (void)snprintf(title, sizeof title, "%s.%s", scl_kind_name(component->plugin.kind),
                 component->plugin.name);
  const scl_option *option = scl_option_named(title, component->options,
                                              component->plugin.n_options, luaL_checkstring(L, 3));
  return scl_lua_give_text(L, option == NULL ? NULL : option->name);
}

/* core.abilities(instance) -> list of the ids that it has */
static int plugin_abilities(lua_State *L) {
  const scl_instance *instance = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  lua_newtable(L);
  lua_Integer count = 0;
  for (const scl_table_rule *rule = scl_rules(); rule->id != NULL; rule++) {
    if (scl_instance_ability(instance, rule->id) == NULL) continue;
    lua_pushstring(L, rule->id);
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

/* ids["KIND.NAME"] = id, in the table on top of the stack. */
static void note_id(void *context, const scl_component *component) {
  lua_State *L = context;
  lua_pushfstring(L, "%s.%s", scl_kind_name(component->plugin.kind), component->plugin.name);
  lua_pushstring(L, component->plugin.id);
  lua_rawset(L, -3);
}

/* The list is on top of the stack, below it are ids of loaded components by "KIND.NAME". */
static void list_one(void *context, scl_kind kind, const char *name, const char *path,
                     scl_plugin_origin origin) {
  lua_State *L = context;
  lua_newtable(L);
  SCL_LUA_TEXTS(L, {"kind", scl_kind_name(kind)}, {"name", name}, {"path", path},
                {"origin", scl_plugin_origin_name(origin)});
  lua_pushfstring(L, "%s.%s", scl_kind_name(kind), name);
  lua_rawget(L, -4);
  lua_setfield(L, -2, "id");
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* core.plugin_list() -> list of {kind, name, path, origin, id = where it is loaded and has one},
 * loaded or not */
static int plugin_list(lua_State *L) {
  lua_newtable(L);
  scl_registry_each_loaded(note_id, L);
  lua_newtable(L);
  SCL_LUA_TRY(L, scl_registry_each(list_one, L, &error));
  return 1;
}

/* core.plugin_files() -> list of {kind = "component", name, path, origin}: files NAME.so straight
 * in a folder of the search path, which hold that component of a kind not known before they are
 * opened */
static int plugin_files(lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  SCL_LUA_TRY(L, scl_registry_each_file(list_one, L, &error));
  return 1;
}

/* Append the declaration of a loaded component to the list on top of the stack. */
static void load_one(void *context, const scl_component *component) {
  lua_State *L = context;
  push_component(L, component);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* core.plugin_load(path[, compiled]) -> list of the components in the file, as plugin_info gives
 * them. compiled = true: the file was compiled from a source, and its components take the place of
 * those of an earlier one. */
static int plugin_load(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  const bool compiled = lua_toboolean(L, 2);
  lua_newtable(L);
  SCL_LUA_TRY(L, compiled ? scl_registry_load_compiled(path, load_one, L, &error)
                          : scl_registry_load(path, load_one, L, &error));
  return 1;
}

/* core.plugin_reload(kind, name) -> list of the components that the file now holds, whether it was
 * another file than the one that was loaded */
static int plugin_reload(lua_State *L) {
  bool changed = false;
  const scl_kind kind = check_kind(L, 1);
  const char *name = luaL_checkstring(L, 2);
  lua_newtable(L);
  SCL_LUA_TRY(L, scl_registry_reload(kind, name, &changed, load_one, L, &error));
  lua_pushboolean(L, changed);
  return 2;
}

/* A component without a version has the version of Scullery, or the digest of its definition. */
static void add_version(void *context, const scl_component *component) {
  lua_State *L = context;
  const char *version = component->plugin.version;
  lua_pushfstring(L, "%s.%s", scl_kind_name(component->plugin.kind), component->plugin.name);
  if (version != NULL && *version != 0)
    lua_pushstring(L, version);
  else if (component->digest != NULL)
    lua_pushfstring(L, "defined in Lua, %s", component->digest);
  else
    lua_pushstring(L, SCULLERY_VERSION);
  lua_rawset(L, -3);
}

/* core.plugin_versions() -> {["KIND.NAME"] = version} of the components loaded so far */
static int plugin_versions(lua_State *L) {
  lua_newtable(L);
  scl_registry_each_loaded(add_version, L);
  return 1;
}

/* core.plugin_find(kind, name) -> the file that the search finds, loaded or not; nil where there is
 * none */
static int plugin_find(lua_State *L) {
  char path[PATH_MAX];
  scl_plugin_origin origin;
  const scl_kind kind = check_kind(L, 1);
  const bool found = scl_folders_find(kind, luaL_checkstring(L, 2), path, &origin);
  return scl_lua_give_text(L, found ? path : NULL);
}

/* core.has_symbol(name) -> whether the process has a symbol of that name for all its libraries */
static int has_symbol(lua_State *L) {
  return scl_lua_give_boolean(L, dlsym(RTLD_DEFAULT, luaL_checkstring(L, 1)) != NULL);
}

/* core.include_folder() -> the folder of the header <scullery/plugin.h>: the value for -I */
static int include_folder(lua_State *L) {
  char folder[PATH_MAX];
  SCL_LUA_TRY(L, scl_include_folder(folder, &error));
  return scl_lua_give_text(L, folder);
}

/* core.plugin_folder() -> the user's own folder of plugins, there or not; nil where it is not
 * known */
static int plugin_folder(lua_State *L) {
  char folder[PATH_MAX];
  return scl_lua_give_text(L, scl_folders_user(folder) ? folder : NULL);
}

SCL_LUA_CALLS(scl_lua_plugin_calls, {"waiting", plugin_waiting, 3},
              {"instance", plugin_instance, 6}, {"settings", plugin_settings, 1},
              {"abilities", plugin_abilities, 1}, {"solver_facts", solver_facts, 1},
              {"plugin_info", plugin_info, 2}, {"option_name", option_name, 3},
              {"plugin_list", plugin_list, 0}, {"plugin_load", plugin_load, 2},
              {"plugin_reload", plugin_reload, 2}, {"plugin_folder", plugin_folder, 0},
              {"plugin_find", plugin_find, 2}, {"has_symbol", has_symbol, 1},
              {"include_folder", include_folder, 0}, {"plugin_files", plugin_files, 0},
              {"plugin_versions", plugin_versions, 0}, {"plugin_kinds", plugin_kinds, 0});
