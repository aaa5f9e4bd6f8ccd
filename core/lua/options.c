/* scullery.core: options declared by Lua functions, and options of all kinds read from Lua.
 *
 * A table of a script is read in three steps. It is copied by raw access, so that no metamethod
 * runs. Its values become scl_given, whose memory belongs to Lua. The one validator
 * (plugin/options.h) checks them against the declared rows, and makes the sentences. */
#include "lua/options.h"

#include "base/text.h"
#include "lua/handle.h"
#include "lua/list.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------ values as they come; all memory is Lua's */

/* The length of the plain list at `place`; of one with a gap up to the gap, itself counted: nil is
 * not a number, so that the validator refuses the list. */
static size_t length_of(lua_State *L, int place) {
  const size_t length = (size_t)lua_rawlen(L, place);
  for (size_t i = 1; i <= length; i++) {
    const bool gap = lua_rawgeti(L, place, (lua_Integer)i) == LUA_TNIL;
    lua_pop(L, 1);
    if (gap) return i;
  }
  return length;
}

/* The numbers of the plain list at `place`. */
static double *list_from(lua_State *L, int place, size_t length) {
  double *list = lua_newuserdatauv(L, (length + 1) * sizeof *list, 0); /* left on the stack */
  for (size_t i = 0; i < length; i++) {
    int number;
    lua_rawgeti(L, place, (lua_Integer)i + 1);
    list[i] = lua_tonumberx(L, -1, &number);
    if (!number) list[i] = NAN; /* fits no range: the options refuse it */
    lua_pop(L, 1);
  }
  return list;
}

/* The instances at `place`: one, or `count` in a plain list. Anything else among them: false. */
static bool read_parts(lua_State *L, int place, size_t count, scl_given *out) {
  const bool one = lua_type(L, place) == LUA_TUSERDATA;
  scl_instance **parts =
      lua_newuserdatauv(L, (count + 1) * sizeof *parts, 0); /* left on the stack */
  for (size_t i = 0; i < count; i++) {
    if (one)
      lua_pushvalue(L, place);
    else
      lua_rawgeti(L, place, (lua_Integer)i + 1);
    parts[i] = scl_lua_test_handle(L, -1, SCL_LUA_INSTANCE);
    lua_pop(L, 1); /* the call holds it */
    if (parts[i] == NULL) return false;
  }
  out->value = (scl_value){.form = SCL_FORM_PARTS, .length = count};
  out->parts = parts;
  return count > 0;
}

/* {name = number(s)}: the name below and the value on top of the stack, both left there. */
static void read_named(lua_State *L, int place, scl_value *out) {
  const int value = lua_gettop(L);
  int number;
  lua_pushvalue(L, value - 1);
  const bool more = lua_next(L, place) != 0;
  if (more) lua_pop(L, 2);
  out->form = SCL_FORM_NAMED;
  out->word = lua_type(L, value - 1) == LUA_TSTRING && !more ? lua_tostring(L, value - 1) : "?";
  if (lua_type(L, value) == LUA_TTABLE) {
    scl_lua_copy_table(L, value, "an option");
    out->length = length_of(L, value);
    out->list = list_from(L, value, out->length);
    return;
  }
  double *one = lua_newuserdatauv(L, sizeof *one, 0);
  *one = lua_tonumberx(L, value, &number);
  if (!number) *one = NAN;
  out->list = one;
  out->length = 1;
}

/* The plain table at `place`: a list, or {name = number(s)}. */
static void read_table(lua_State *L, int place, scl_value *out) {
  const size_t length = length_of(L, place);
  if (length == 0) {
    lua_pushnil(L);
    if (lua_next(L, place) != 0) {
      read_named(L, place, out);
      return;
    }
  }
  out->form = SCL_FORM_LIST;
  out->length = length;
  out->list = list_from(L, place, length);
}

/* The value at `place` in the form that the validator takes. A value of another type is opaque: the
 * sentence names its type. */
static void read_value(lua_State *L, int place, scl_given *given) {
  scl_value *out = &given->value;
  *given =
      (scl_given){.value = {.form = SCL_FORM_OPAQUE, .place = -1, .word = luaL_typename(L, place)}};
  switch (lua_type(L, place)) {
  case LUA_TNUMBER: {
    const double number = lua_tonumber(L, place);
    const bool whole = isfinite(number) && number == floor(number);
    *out = (scl_value){.number = number, .form = SCL_FORM_NUMBER | (whole ? SCL_FORM_INTEGER : 0)};
    break;
  }
  case LUA_TBOOLEAN:
    *out = (scl_value){.form = SCL_FORM_BOOLEAN, .number = lua_toboolean(L, place)};
    break;
  case LUA_TSTRING:
    *out = (scl_value){.form = SCL_FORM_WORD, .word = lua_tostring(L, place)};
    break;
  case LUA_TTABLE: {
    *out = (scl_value){0};
    lua_pushvalue(L, place);
    const int copy = lua_gettop(L);
    scl_lua_copy_table(L, copy, "an option");
    const bool parts = lua_rawgeti(L, copy, 1) == LUA_TUSERDATA;
    lua_pop(L, 1);
    if (!parts || !read_parts(L, copy, length_of(L, copy), given)) read_table(L, copy, out);
    break;
  }
  case LUA_TUSERDATA:
    (void)read_parts(L, place, 1, given);
  }
}

/* ------------ the table of options */

static int by_name(const void *a, const void *b) {
  return strcmp(((const scl_given *)a)->name, ((const scl_given *)b)->name);
}

/* The key of an option, two places below the top. */
static const char *name_of(lua_State *L, int key, const char *title, const scl_option *options,
                           size_t n) {
  if (lua_type(L, key) == LUA_TSTRING) return lua_tostring(L, key);
  lua_pushvalue(L, key + 1);
  lua_pushfstring(L, "%s: takes named options, and got %s without a name; it takes %s", title,
                  scl_lua_shown(L, -1), n > 0 ? options[0].name : "none");
  for (size_t i = 1; i < n; i++) {
    lua_pushfstring(L, ", %s", options[i].name);
    lua_concat(L, 2);
  }
  luaL_error(L, "%s", lua_tostring(L, -1));
  return NULL;
}

/* The table at `place` becomes a plain copy, which keeps what the values point to. */
static const scl_given *read_all(lua_State *L, int place, const char *title,
                                 const scl_option *options, size_t n_options, size_t *count) {
  size_t room = 0;
  *count = 0;
  if (lua_isnoneornil(L, place)) return NULL;
  if (lua_type(L, place) != LUA_TTABLE)
    luaL_error(L, "%s: takes a table of named options, and got %s", title, scl_lua_shown(L, place));
  luaL_checkstack(L, 60, "too many options");
  scl_lua_copy_table(L, place, title);
  for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1))
    room++;
  scl_given *given = lua_newuserdatauv(L, (room + 1) * sizeof *given, 0);
  lua_newtable(L); /* values, to keep them alive */
  const int kept = lua_gettop(L);
  lua_Integer held = 0;
  for (lua_pushnil(L); *count < room && lua_next(L, place) != 0; ++*count) {
    const int key = lua_gettop(L) - 1;
    const char *name = name_of(L, key, title, options, n_options);
    bool opaque = false; /* such a value is judged by the function that reads it */
    for (size_t i = 0; i < n_options; i++)
      opaque |= options[i].forms & SCL_FORM_OPAQUE && strcmp(options[i].name, name) == 0;
    if (opaque)
      given[*count] = (scl_given){.value = {.form = SCL_FORM_OPAQUE}};
    else
      read_value(L, key + 1, &given[*count]);
    given[*count].name = name;
    while (lua_gettop(L) > key)
      lua_rawseti(L, kept, ++held); /* the value and whatever it needed */
  }
  qsort(given, *count, sizeof *given, by_name);
  return given;
}

scl_settings scl_lua_check_settings(lua_State *L, int place, const char *title,
                                    const scl_option *options, size_t n_options) {
  size_t count;
  scl_settings settings;
  const scl_given *given = read_all(L, place, title, options, n_options, &count);
  SCL_LUA_TRY(L, scl_settings_create(title, options, n_options, given, count, &settings, &error));
  return settings;
}

/* ------------ values and declared rows, to Lua */

/* The value of an option as Lua has it; nil for an option without a value. */
static void push_value(lua_State *L, const scl_value *value) {
  switch (value->form) {
  case 0:
    lua_pushnil(L);
    break;
  case SCL_FORM_PARTS:
    lua_pushinteger(L, (lua_Integer)value->length); /* how many components */
    break;
  case SCL_FORM_BOOLEAN:
    lua_pushboolean(L, value->number != 0);
    break;
  case SCL_FORM_WORD:
    lua_pushstring(L, value->word);
    break;
  case SCL_FORM_LIST:
    scl_lua_push_numbers(L, value->list, value->length);
    break;
  case SCL_FORM_NAMED:
    lua_newtable(L);
    scl_lua_push_numbers(L, value->list, value->length);
    lua_setfield(L, -2, value->word);
    break;
  default:
    lua_pushnumber(L, value->number);
  }
}

void scl_lua_push_settings(lua_State *L, const scl_settings *settings) {
  lua_createtable(L, 0, (int)settings->count);
  for (size_t i = 0; i < settings->count; i++) {
    push_value(L, &settings->values[i]);
    lua_setfield(L, -2, settings->options[i].name);
  }
}

void scl_lua_push_option(lua_State *L, const scl_option *option) {
  static const char *const roles[] = {NULL,       "regularisation", "capacity", "intercept",
                                      "estimate", "bias",           "tolerance"};
  static const char *const widths[] = {NULL, "gamma", "length", "frequency", "rate"};
  char takes[300];
  lua_newtable(L);
  SCL_LUA_TEXTS(L, {"name", option->name}, {"takes", scl_option_takes(option, takes, sizeof takes)},
                {"default", option->fallback}, {"help", option->help}, {"former", option->former},
                {"deprecated", option->deprecated});
  if ((unsigned)option->role < sizeof roles / sizeof *roles)
    scl_lua_set_text(L, "role", roles[option->role]);
  if ((unsigned)option->width < sizeof widths / sizeof *widths)
    scl_lua_set_text(L, "width", widths[option->width]);
  /* The forms of numbers that it takes, and their range: what `takes` says in words. */
  const bool any = option->low == 0 && option->high == 0;
  SCL_LUA_BOOLEANS(L, {"takes_number", option->forms & SCL_FORM_NUMBER},
                   {"takes_integer", option->forms & SCL_FORM_INTEGER},
                   {"takes_boolean", option->forms & SCL_FORM_BOOLEAN},
                   {"takes_word", option->forms & SCL_FORM_WORD},
                   {"takes_list", option->forms & SCL_FORM_LIST},
                   {"low_open", any || option->range & SCL_RANGE_LOW_OPEN},
                   {"high_open", any || option->range & SCL_RANGE_HIGH_OPEN});
  SCL_LUA_NUMBERS(L, {"low", any ? -INFINITY : option->low},
                  {"high", any ? INFINITY : option->high});
  lua_newtable(L);
  lua_Integer count = 0;
  for (const char *word = option->words; word != NULL && *word != 0;) {
    const size_t length = strcspn(word, "|"); /* "one|two|three" */
    lua_pushlstring(L, word, length);
    lua_rawseti(L, -2, ++count);
    word += length + (word[length] == '|');
  }
  lua_setfield(L, -2, "words");
}

/* ------------ rows that Lua declares */

#define SCL_LUA_ROWS "scullery.option_rows"

/* Rows of options that a Lua function declared, for the validator. */
typedef struct declared_rows {
  size_t count;
  scl_option list[]; /* their texts are those of a table that the handle keeps */
} declared_rows;

static void release_rows(void *declared) { scl_release(declared); }

/* A text of the row on top of the stack, NULL where it is absent. */
static const char *text_field(lua_State *L, const char *key) {
  lua_getfield(L, -1, key);
  const char *text = luaL_optstring(L, -1, NULL);
  lua_pop(L, 1); /* the row keeps it */
  return text;
}

/* The row on top of the stack: {name =, form = "number" | "integer" | "boolean" | "word" |
 * "opaque", words =, low =, high =, above =, required =}. */
static void read_row(lua_State *L, scl_option *row) {
  static const char *const forms[] = {"number", "integer", "boolean", "word", "opaque", NULL};
  static const uint32_t bits[] = {SCL_FORM_NUMBER, SCL_FORM_INTEGER, SCL_FORM_BOOLEAN,
                                  SCL_FORM_WORD, SCL_FORM_OPAQUE};
  const int place = lua_gettop(L);
  row->name = text_field(L, "name");
  row->words = text_field(L, "words");
  lua_getfield(L, place, "form");
  row->forms = bits[luaL_checkoption(L, -1, NULL, forms)];
  lua_pop(L, 1);
  if (scl_lua_field_flag(L, place, "required")) row->forms |= SCL_FORM_REQUIRED;
  const double above = scl_lua_field_number(L, place, "above", -INFINITY);
  row->low = scl_lua_field_number(L, place, "low", above);
  row->high = scl_lua_field_number(L, place, "high", INFINITY);
  row->range = (above > -INFINITY || isinf(row->low) ? SCL_RANGE_LOW_OPEN : 0) |
               (isinf(row->high) ? SCL_RANGE_HIGH_OPEN : 0);
}

/* core.option_rows(list of rows) -> rows, for core.check_options */
static int option_rows(lua_State *L) {
  const size_t count = scl_lua_copy_list(L, 1, SCL_LUA_MOST, "rows");
  void **slot = scl_lua_new_handle(L, SCL_LUA_ROWS, release_rows);
  declared_rows *r = *slot = scl_allocate_zero(sizeof *r + count * sizeof *r->list);
  if (r == NULL) return luaL_error(L, "not enough memory for options");
  for (; r->count < count; r->count++) {
    scl_lua_push_table(L, 1, r->count, "rows");
    scl_option *row = &r->list[r->count];
    read_row(L, row);
    if (row->name == NULL) return luaL_error(L, "row %I has no name", (LUAI_UACINT)r->count + 1);
    lua_rawseti(L, 1, (lua_Integer)r->count + 1);
  }
  scl_lua_tie(L, -1, 1); /* texts are those of the copies */
  return 1;
}

/* core.check_options(title, rows, names, values, words): raises what is wrong. words[i]: false
 * where value i is judged by its row; otherwise it is opaque: true where it is taken, or how it
 * looks. */
static int check_options(lua_State *L) {
  const char *title = luaL_checkstring(L, 1);
  const declared_rows *r = scl_lua_check_handle(L, 2, SCL_LUA_ROWS);
  const size_t count = scl_lua_copy_list(L, 3, SCL_LUA_MOST, "names");
  scl_lua_copy_table(L, 4, "values");
  scl_lua_copy_table(L, 5, "words");
  scl_given *given = lua_newuserdatauv(L, (count + 1) * sizeof *given, 0);
  const int key = lua_gettop(L) + 1;
  for (size_t i = 0; i < count; i++) {
    for (int list = 3; list <= 5; list++)
      lua_rawgeti(L, list, (lua_Integer)i + 1);
    const char *name = name_of(L, key, title, r->list, r->count), *word = lua_tostring(L, key + 2);
    const int type = lua_type(L, key + 1);
    if (lua_toboolean(L, key + 2))
      given[i] = (scl_given){
          .value = {.form = SCL_FORM_OPAQUE, .place = word == NULL ? 0 : -1, .word = word}};
    else if (type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TSTRING)
      read_value(L, key + 1, &given[i]);
    else
      luaL_error(L, "%s: '%s' got %s", title, name, luaL_typename(L, key + 1));
    given[i].name = name;
    lua_settop(L, key - 1); /* our copies keep the texts */
  }
  qsort(given, count, sizeof *given, by_name);
  scl_settings settings;
  SCL_LUA_TRY(L, scl_settings_create(title, r->list, r->count, given, count, &settings, &error));
  scl_settings_destroy(&settings);
  return 0;
}

/* core.nearest(word, names) -> the name most like the word, or nil */
static int nearest(lua_State *L) {
  const char *word = luaL_checkstring(L, 1);
  const size_t count = scl_lua_copy_list(L, 2, SCL_LUA_MOST, "names");
  const char **names = lua_newuserdatauv(L, (count + 1) * sizeof *names, 0);
  for (size_t i = 0; i < count; i++) {
    names[i] = lua_rawgeti(L, 2, (lua_Integer)i + 1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    lua_pop(L, 1); /* our copy keeps it */
  }
  return scl_lua_give_text(L, scl_nearest(word, names, count));
}

SCL_LUA_CALLS(scl_lua_options_calls, {"option_rows", option_rows, 1},
              {"check_options", check_options, 5}, {"nearest", nearest, 2});
