/* scullery.core.define: makes the descriptor of a component that a script defines from a table of
 * fields. lua/scullery/compose/define.lua checks the fields first, with sentences for the user; the
 * checks here protect memory. */
#include "define/internal.h"
#include "lua/list.h"

#include <math.h>
#include <string.h>

/* ------------ fields */

bool scl_define_has(lua_State *L, int fields, const char *name) {
  const bool has = lua_getfield(L, fields, name) != LUA_TNIL;
  lua_pop(L, 1);
  return has;
}

/* The head of a block of memory that a definition keeps; the bytes follow it. */
typedef struct scl_kept {
  struct scl_kept *next;
} scl_kept;

enum { BEFORE = 64 }; /* bytes of an scl_kept, so that what follows is aligned */

/* Zeroed memory that is kept as long as the definition; raises an error if there is none. Blocks are
 * linked, so that a definition that is refused releases all of them. */
static void *keep_zeros(lua_State *L, scl_definition *definition, size_t bytes) {
  char *memory = scl_allocate_zero(BEFORE + bytes);
  if (memory == NULL) luaL_error(L, "not enough memory for a definition");
  scl_kept *kept = (scl_kept *)(void *)memory;
  kept->next = definition->kept;
  definition->kept = kept;
  return memory + BEFORE;
}

const char *scl_define_text(lua_State *L, int fields, const char *name,
                            scl_definition *definition) {
  char *copy = NULL;
  if (lua_getfield(L, fields, name) != LUA_TNIL) {
    size_t length;
    const char *text = luaL_checklstring(L, -1, &length);
    copy = keep_zeros(L, definition, length + 1);
    memcpy(copy, text, length + 1);
  }
  lua_pop(L, 1);
  return copy;
}

/* The bits of the names that the field lists: name i of `names` (ended by NULL) has bit i. `absent`
 * if there is no such field. */
static uint32_t read_bits(lua_State *L, int place, const char *key, const char *const *names,
                          uint32_t absent) {
  uint32_t bits = 0;
  if (lua_getfield(L, place, key) == LUA_TNIL) bits = absent;
  const size_t count = lua_isnil(L, -1) ? 0 : scl_lua_list_length(L, lua_gettop(L), "a field");
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    bits |= 1u << (unsigned)luaL_checkoption(L, -1, NULL, names);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return bits;
}

uint32_t scl_define_spaces(lua_State *L, int fields, uint32_t absent) {
  enum { MOST = 32 };
  const char *names[MOST] = {NULL};
  for (scl_space space = 0; space < MOST - 1 && scl_space_name(space) != NULL; space++)
    names[space] = scl_space_name(space);
  return read_bits(L, fields, "spaces", names, absent);
}

void scl_define_offer(scl_definition *definition, const char *id, const void *table) {
  definition->abilities[definition->n_abilities++] = (scl_ability){id, table};
  definition->plugin.abilities = definition->abilities;
}

/* ------------ options */

/* Read one row of options. No option is stored in a member of the instance (SCL_STORE_NONE): values
 * are read from the settings. */
static void read_option(lua_State *L, int row, scl_definition *definition, scl_option *out) {
  static const char *const forms[] = {"number", "integer", "boolean", "word",
                                      "list",   "named",   NULL};
  static const char *const widths[] = {"none", "gamma", "length", "frequency", "rate", NULL};
  static const char *const roles[] = {"none",     "regularisation", "capacity",  "intercept",
                                      "estimate", "bias",           "tolerance", NULL};
  const bool low_open = scl_lua_field_flag(L, row, "low_open"),
             high_open = scl_lua_field_flag(L, row, "high_open");
  *out = (scl_option){.name = scl_define_text(L, row, "name", definition),
                      .help = scl_define_text(L, row, "help", definition),
                      .words = scl_define_text(L, row, "words", definition),
                      .fallback = scl_define_text(L, row, "default", definition),
                      .forms = read_bits(L, row, "forms", forms, 0),
                      .range = (low_open ? SCL_RANGE_LOW_OPEN : 0) |
                               (high_open ? SCL_RANGE_HIGH_OPEN : 0),
                      .low = scl_lua_field_number(L, row, "low", 0),
                      .high = scl_lua_field_number(L, row, "high", 0),
                      .width = scl_lua_field_word(L, row, "width", widths, 0),
                      .role = scl_lua_field_word(L, row, "role", roles, 0)};
}

/* The declared options of the component, from the field `rows`, kept with the definition. */
static void read_options(lua_State *L, int fields, scl_definition *definition) {
  scl_plugin *plugin = &definition->plugin;
  lua_getfield(L, fields, "rows");
  const int rows = lua_gettop(L);
  const size_t count = scl_lua_list_length(L, rows, "rows");
  scl_option *options = keep_zeros(L, definition, (count + 1) * sizeof *options);
  plugin->options = options;
  plugin->n_options = (uint32_t)count;
  plugin->option_size = sizeof *options;
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, rows, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    read_option(L, lua_gettop(L), definition, &options[i]);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* ------------ defining */

static const scl_define_kind *const kinds[SCL_KINDS] = {
    [SCL_KIND_SAMPLER] = &scl_define_sampler, [SCL_KIND_NONLINEARITY] = &scl_define_nonlinearity,
    [SCL_KIND_KERNEL] = &scl_define_kernel,   [SCL_KIND_SOLVER] = &scl_define_solver,
    [SCL_KIND_STAGE] = &scl_define_stage,     [SCL_KIND_METRIC] = &scl_define_metric,
    [SCL_KIND_LOSS] = &scl_define_loss};

/* __gc of the guard in define(): release a definition that was not entered in the registry. */
static int forget_definition(lua_State *L) {
  scl_definition **place = lua_touserdata(L, 1);
  while (*place != NULL && (*place)->kept != NULL) {
    scl_kept *kept = (*place)->kept;
    (*place)->kept = kept->next;
    scl_release(kept);
  }
  scl_release(*place);
  *place = NULL;
  return 0;
}

/* Record the definition under its kind and name in the Lua registry, and mark the former one there,
 * if any, as replaced. */
static void replace_former(lua_State *L, scl_definition *definition) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, "scullery.definitions");
  lua_pushfstring(L, "%s.%s", scl_kind_name(definition->plugin.kind), definition->plugin.name);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, -3) == LUA_TLIGHTUSERDATA) scl_definition_replace(lua_touserdata(L, -1));
  lua_pop(L, 1);
  lua_pushlightuserdata(L, definition);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* core.define(fields): enter a component. fields: those of sc.KIND.define, checked, and kind,
 * place, digest, rows (options as read_option reads them). */
static int define_component(lua_State *L) {
  scl_error error = {0};
  scl_kind kind;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_getfield(L, 1, "kind");
  if (!scl_kind_find(luaL_checkstring(L, -1), &kind))
    return luaL_error(L, "there is no kind %s", lua_tostring(L, -1));
  lua_getfield(L, 1, "place");
  lua_getfield(L, 1, "digest");
  const char *place = luaL_checkstring(L, -2), *digest = luaL_checkstring(L, -1);
  scl_script *script = scl_script_of(L);
  scl_definition **guard = scl_lua_new_guarded(L, sizeof *guard, forget_definition);
  scl_definition *definition = *guard = scl_allocate_zero(sizeof *definition);
  if (definition == NULL) return luaL_error(L, "not enough memory for a definition");
  definition->kind = kinds[kind];
  definition->script = script;
  definition->plugin = (scl_plugin){.head = SCL_HEAD(scl_plugin),
                                    .kind = kind,
                                    .name = scl_define_text(L, 1, "name", definition),
                                    .summary = scl_define_text(L, 1, "summary", definition),
                                    .doc = scl_define_text(L, 1, "doc", definition),
                                    .version = scl_define_text(L, 1, "version", definition),
                                    .author = scl_define_text(L, 1, "author", definition),
                                    .vtable = &definition->table,
                                    .instance_size = kinds[kind]->instance_size,
                                    .create = scl_defined_create,
                                    .destroy = scl_defined_destroy};
  read_options(L, 1, definition);
  definition->place = scl_define_text(L, 1, "place", definition);
  kinds[kind]->describe(L, 1, definition);
  lua_pushvalue(L, 1);
  definition->fields = luaL_ref(L, LUA_REGISTRYINDEX);
  /* From here on the registry may point to the definition: nothing must raise before *guard is
   * cleared, except after a failure. */
  const scl_status status = scl_registry_define(&definition->plugin, place, digest, &error);
  if (status != SCL_STATUS_OK) luaL_unref(L, LUA_REGISTRYINDEX, definition->fields);
  scl_lua_check(L, status, &error);
  *guard = NULL; /* it belongs to the registry now */
  replace_former(L, definition);
  return 0;
}

SCL_LUA_CALLS(scl_lua_define_calls, {"define", define_component, -1});
