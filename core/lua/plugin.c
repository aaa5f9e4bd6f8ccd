/* scullery.core: plugins by kind and name, their declarations and instances. */
#include "lua/handle.h"
#include "plugin/registry.h"

#include <math.h>
#include <string.h>

static scl_kind check_kind(lua_State *L, int place) {
  scl_kind kind;
  const char *name = luaL_checkstring(L, place);
  if (!scl_kind_find(name, &kind))
    luaL_error(L, "unknown kind of plugin '%s'; there are sampler, nonlinearity, kernel, solver",
               name);
  return kind;
}

static const scl_component *check_component(lua_State *L, int place) {
  const scl_component *component;
  scl_error error = {0};
  const scl_kind kind = check_kind(L, place);
  scl_lua_check(L, scl_registry_find(kind, luaL_checkstring(L, place + 1), &component, &error),
                &error);
  return component;
}

/* ---------------------------------------------------------------- options from a Lua table; all
 * memory is Lua's */

static double *list_from(lua_State *L, int place, size_t *length) {
  const lua_Integer count = luaL_len(L, place);
  double *list =
      lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *list, 0); /* left on the stack */
  for (lua_Integer i = 1; i <= count; i++) {
    int number;
    lua_geti(L, place, i);
    list[i - 1] = lua_tonumberx(L, -1, &number);
    if (!number) list[i - 1] = NAN; /* fits no range: the options refuse it */
    lua_pop(L, 1);
  }
  *length = (size_t)count;
  return list;
}

/* The instances at `place`: one, or a list of them. Anything else in the list: false. */
static bool read_parts(lua_State *L, int place, scl_given *out) {
  const bool one = lua_type(L, place) == LUA_TUSERDATA;
  const lua_Integer count = one ? 1 : luaL_len(L, place);
  scl_instance **parts =
      lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *parts, 0); /* left on the stack */
  for (lua_Integer i = 1; i <= count; i++) {
    if (one)
      lua_pushvalue(L, place);
    else
      lua_geti(L, place, i);
    void **slot = luaL_testudata(L, -1, SCL_LUA_INSTANCE);
    parts[i - 1] = slot == NULL ? NULL : *slot;
    lua_pop(L, 1); /* the table of options keeps it */
    if (parts[i - 1] == NULL) return false;
  }
  out->value = (scl_value){.form = SCL_FORM_PARTS, .length = (size_t)count};
  out->parts = parts;
  return count > 0;
}

/* Whether the table at `place` has a second name after the one on top (below its value). */
static bool has_two(lua_State *L, int place) {
  lua_pushvalue(L, -2);
  const bool more = lua_next(L, place) != 0;
  if (more) lua_pop(L, 2);
  return more;
}

/* The table at `place`: a list, or {name = number(s)}. */
static void read_table(lua_State *L, int place, scl_value *out) {
  if (luaL_len(L, place) > 0) {
    out->form = SCL_FORM_LIST;
    out->list = list_from(L, place, &out->length);
    return;
  }
  lua_pushnil(L);
  if (lua_next(L, place) == 0) {
    out->form = SCL_FORM_LIST;
    out->list = list_from(L, place, &out->length);
    return;
  }
  out->form = SCL_FORM_NAMED;
  out->word = lua_type(L, -2) == LUA_TSTRING && !has_two(L, place) ? lua_tostring(L, -2)
                                                                   : "?"; /* alive in the table */
  if (lua_type(L, -1) == LUA_TTABLE) {
    const int value = lua_gettop(L);
    out->list = list_from(L, value, &out->length);
    return;
  }
  double *one = lua_newuserdatauv(L, sizeof *one, 0);
  int number;
  *one = lua_tonumberx(L, -2, &number);
  if (!number) *one = NAN;
  out->list = one;
  out->length = 1;
}

static void read_value(lua_State *L, int place, scl_given *given) {
  scl_value *out = &given->value;
  *out = (scl_value){0};
  given->parts = NULL;
  switch (lua_type(L, place)) {
  case LUA_TNUMBER:
    out->number = lua_tonumber(L, place);
    out->form = SCL_FORM_NUMBER |
                (isfinite(out->number) && out->number == floor(out->number) ? SCL_FORM_INTEGER : 0);
    break;
  case LUA_TBOOLEAN:
    out->form = SCL_FORM_BOOLEAN;
    out->number = lua_toboolean(L, place);
    break;
  case LUA_TSTRING:
    out->form = SCL_FORM_WORD;
    out->word = lua_tostring(L, place);
    break;
  case LUA_TTABLE: {
    const bool parts = lua_geti(L, place, 1) == LUA_TUSERDATA;
    lua_pop(L, 1);
    if (!parts || !read_parts(L, place, given)) read_table(L, place, out);
    break;
  }
  case LUA_TUSERDATA:
    if (read_parts(L, place, given)) break; /* else as any other type */
    out->form = SCL_FORM_WORD;
    out->word = "userdata";
    break;
  default:
    out->form = SCL_FORM_WORD;
    out->word = luaL_typename(L, place); /* "function", "userdata": no option has such a word */
  }
}

/* Everything that the options point to stays on Lua's stack until the caller returns. */
static scl_given *read_given(lua_State *L, int place, size_t *count) {
  *count = 0;
  if (lua_isnoneornil(L, place)) return NULL;
  luaL_checktype(L, place, LUA_TTABLE);
  size_t size = 0;
  for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1))
    size++;
  scl_given *given = lua_newuserdatauv(L, (size + 1) * sizeof *given, 0);
  luaL_checkstack(L, (int)size * 6 + 20, "too many options");
  lua_newtable(L); /* values, to keep them alive */
  const int kept = lua_gettop(L);
  lua_Integer held = 0;
  lua_pushnil(L);
  while (lua_next(L, place) != 0) {
    const int value = lua_gettop(L), key = value - 1;
    scl_given *one = &given[(*count)++];
    one->name = lua_type(L, key) == LUA_TSTRING ? lua_tostring(L, key) : "(not a name)";
    read_value(L, value, one);
    while (lua_gettop(L) > key)
      lua_rawseti(L, kept, ++held); /* the value and whatever it needed */
  }
  return given;
}

static scl_settings check_settings(lua_State *L, const scl_component *component, int place) {
  size_t count;
  scl_settings settings;
  scl_error error = {0};
  char title[80];
  const scl_plugin *plugin = component->plugin;
  const scl_given *given = read_given(L, place, &count);
  lua_pushfstring(L, "%s.%s", scl_kind_name(plugin->kind), plugin->name);
  memset(title, 0, sizeof title);
  strncpy(title, lua_tostring(L, -1), sizeof title - 1);
  scl_lua_check(L,
                scl_settings_create(title, plugin->options, plugin->n_options, given, count,
                                    &settings, &error),
                &error);
  return settings;
}

/* ---------------------------------------------------------------- instances */

static void release_instance(void *instance) {
  scl_instance_release(instance);
}

/* core.waiting(kind, name, options) -> "scale", "median" or nil: validates, and says whether a
 * width waits for the data */
static int plugin_waiting(lua_State *L) {
  const scl_component *component = check_component(L, 1);
  scl_settings settings = check_settings(L, component, 3);
  const char *word = scl_settings_waiting(&settings);
  const bool median = word != NULL && strcmp(word, "median") == 0;
  const bool waits = word != NULL;
  scl_settings_destroy(&settings);
  if (!waits)
    lua_pushnil(L);
  else
    lua_pushstring(L, median ? "median" : "scale");
  return 1;
}

/* core.instance(kind, name, options[, gamma_scale, gamma_median, columns]) -> instance */
static int plugin_instance(lua_State *L) {
  const scl_component *component = check_component(L, 1);
  const double scale = luaL_optnumber(L, 4, 1), median = luaL_optnumber(L, 5, 1);
  const size_t dim = (size_t)luaL_optinteger(L, 6, 1);
  scl_error error = {0};
  scl_instance *instance;
  void **slot = scl_lua_new_handle(L, SCL_LUA_INSTANCE, release_instance, 0);
  const int made = lua_gettop(L);
  scl_settings settings = check_settings(L, component, 3);
  scl_settings_set_widths(&settings, scale, median, dim);
  scl_lua_check(L, scl_instance_create(component, &settings, &instance, &error), &error);
  *slot = instance;
  lua_pushvalue(L, made);
  return 1;
}

static void push_value(lua_State *L, const scl_value *value) {
  if (value->form == 0) {
    lua_pushnil(L);
  } else if (value->form & SCL_FORM_PARTS) {
    lua_pushinteger(L, (lua_Integer)value->length); /* how many components */
  } else if (value->form & SCL_FORM_BOOLEAN) {
    lua_pushboolean(L, value->number != 0);
  } else if (value->form & SCL_FORM_WORD) {
    lua_pushstring(L, value->word);
  } else if (value->form & (SCL_FORM_LIST | SCL_FORM_NAMED)) {
    lua_newtable(L);
    for (size_t i = 0; i < value->length; i++) {
      lua_pushnumber(L, value->list[i]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    if (!(value->form & SCL_FORM_NAMED)) return;
    lua_newtable(L);
    lua_insert(L, -2);
    lua_setfield(L, -2, value->word);
  } else {
    lua_pushnumber(L, value->number);
  }
}

/* core.settings(instance) -> table of option -> value, defaults included, and the text as one would
 * type it */
static int plugin_settings(lua_State *L) {
  const scl_instance *instance = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  char text[1000];
  lua_newtable(L);
  for (size_t i = 0; i < instance->settings.count; i++) {
    push_value(L, &instance->settings.values[i]);
    lua_setfield(L, -2, instance->settings.options[i].name);
  }
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  bool first = true;
  for (size_t i = 0; i < instance->settings.count; i++) {
    if (instance->settings.values[i].form == 0) continue;
    if (!first) luaL_addstring(&b, ", ");
    first = false;
    luaL_addstring(&b, instance->settings.options[i].name);
    luaL_addstring(&b, " = ");
    luaL_addstring(&b, scl_setting_text(&instance->settings, i, text, sizeof text));
  }
  luaL_pushresult(&b);
  return 2;
}

/* core.path_option(instance) -> the option that the solver takes many values of at once, or nil */
static int plugin_path_option(lua_State *L) {
  const scl_instance *instance = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  const scl_ability_path *path = scl_instance_ability(instance, SCL_ABILITY_PATH);
  lua_pushstring(L, path == NULL ? NULL : path->option);
  return 1;
}

/* ---------------------------------------------------------------- declarations */

static void push_words(lua_State *L, const char *words) {
  lua_newtable(L);
  lua_Integer count = 0;
  while (words != NULL && *words != 0) {
    const size_t length = strcspn(words, "|");
    lua_pushlstring(L, words, length);
    lua_rawseti(L, -2, ++count);
    words += length + (words[length] == '|');
  }
}

static void push_option(lua_State *L, const scl_option *option) {
  char takes[300];
  lua_newtable(L);
  lua_pushstring(L, option->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, scl_option_takes(option, takes, sizeof takes));
  lua_setfield(L, -2, "takes");
  lua_pushstring(L, option->fallback);
  lua_setfield(L, -2, "default");
  lua_pushstring(L, option->help);
  lua_setfield(L, -2, "help");
  push_words(L, option->words);
  lua_setfield(L, -2, "words");
}

static void set_string(lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

static const char *const abilities[] = {
    SCL_ABILITY_LAW,           SCL_ABILITY_CHARACTERISTIC, SCL_ABILITY_DISTRIBUTION,
    SCL_ABILITY_STRUCTURED,    SCL_ABILITY_SMOOTHING,      SCL_ABILITY_FACTS,
    SCL_ABILITY_GAUSSIAN_DUAL, SCL_ABILITY_HARMONIC,       SCL_ABILITY_BIND,
    SCL_ABILITY_TILT,          SCL_ABILITY_THRESHOLD_DUAL, SCL_ABILITY_CATEGORIES,
    SCL_ABILITY_CODE_DUAL,     SCL_ABILITY_COLLISION,      SCL_ABILITY_POOL,
    SCL_ABILITY_PATH};

/* core.plugin_info(kind, name) -> kind, name, version, author, summary, doc, path, options */
static int plugin_info(lua_State *L) {
  const scl_component *component = check_component(L, 1);
  const scl_plugin *plugin = component->plugin;
  lua_newtable(L);
  set_string(L, "kind", scl_kind_name(plugin->kind));
  set_string(L, "name", plugin->name);
  set_string(L, "version", plugin->version);
  set_string(L, "author", plugin->author);
  set_string(L, "summary", plugin->summary);
  set_string(L, "doc", plugin->doc);
  set_string(L, "path", component->path);
  lua_newtable(L);
  for (size_t i = 0; i < plugin->n_options; i++) {
    push_option(L, &plugin->options[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "options");
  return 1;
}

/* core.abilities(instance) -> list of the ids that it has */
static int plugin_abilities(lua_State *L) {
  const scl_instance *instance = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  lua_newtable(L);
  lua_Integer count = 0;
  for (size_t i = 0; i < sizeof abilities / sizeof *abilities; i++) {
    if (scl_instance_ability(instance, abilities[i]) == NULL) continue;
    lua_pushstring(L, abilities[i]);
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

static void list_one(void *context, scl_kind kind, const char *name, const char *path) {
  lua_State *L = context;
  lua_newtable(L);
  set_string(L, "kind", scl_kind_name(kind));
  set_string(L, "name", name);
  set_string(L, "path", path);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* core.plugin_list() -> list of {kind, name, path}, loaded or not */
static int plugin_list(lua_State *L) {
  scl_error error = {0};
  lua_newtable(L);
  scl_lua_check(L, scl_registry_each(list_one, L, &error), &error);
  return 1;
}

/* core.plugin_load(path) -> kind, name */
static int plugin_load(lua_State *L) {
  const scl_component *component;
  scl_error error = {0};
  scl_lua_check(L, scl_registry_load(luaL_checkstring(L, 1), &component, &error), &error);
  lua_pushstring(L, scl_kind_name(component->plugin->kind));
  lua_pushstring(L, component->plugin->name);
  return 2;
}

static int plugin_path(lua_State *L) {
  char *path = scl_registry_search_path();
  lua_pushstring(L, path);
  scl_release(path);
  return 1;
}

void scl_lua_open_plugin(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"waiting", plugin_waiting},         {"instance", plugin_instance},
      {"settings", plugin_settings},       {"abilities", plugin_abilities},
      {"path_option", plugin_path_option}, {"plugin_info", plugin_info},
      {"plugin_list", plugin_list},        {"plugin_load", plugin_load},
      {"plugin_path", plugin_path},        {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
