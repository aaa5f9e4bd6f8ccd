/* scullery.core: options declared by Lua functions, and options of all kinds read from Lua. */
#include "lua/options.h"

#include "base/text.h"
#include "lua/handle.h"
#include "lua/list.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ values as they come; all memory is
 * Lua's */

/* The length of the plain list at `place`; of one with a gap up to the gap, itself counted: it is
 * no number, so that the options refuse it. */
static size_t length_of(lua_State *L, int place) {
  const size_t told = (size_t)lua_rawlen(L, place);
  for (size_t i = 1; i <= told; i++) {
    const bool gap = lua_rawgeti(L, place, (lua_Integer)i) == LUA_TNIL;
    lua_pop(L, 1);
    if (gap) return i;
  }
  return told;
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

/* A value of no form is told by its type. */
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

/* ------------------------------------------------------------ the table of options */

static int by_name(const void *a, const void *b) {
  return strcmp(((const scl_given *)a)->name, ((const scl_given *)b)->name);
}

/* The key of an option, two places below the top. */
static const char *name_of(lua_State *L, int key, const char *title) {
  if (lua_type(L, key) != LUA_TSTRING) {
    lua_pushvalue(L, key + 1);
    luaL_error(L, "%s: takes named options, and got %s without a name", title,
               scl_lua_shown(L, -1));
  }
  return lua_tostring(L, key);
}

/* The given values, in a userdata at `place` that is replaced by a larger one as they come. */
typedef struct gathering {
  scl_given *list;
  size_t count, room;
  int place;
} gathering;

/* Room for one more; what its value points to is left on the stack by whoever reads it. */
static scl_given *more_given(lua_State *L, gathering *g) {
  if (g->count == g->room) {
    const size_t room = 2 * g->room + 8;
    scl_given *list = lua_newuserdatauv(L, room * sizeof *list, 0);
    if (g->count > 0) memcpy(list, g->list, g->count * sizeof *list);
    lua_replace(L, g->place);
    g->list = list;
    g->room = room;
  }
  g->list[g->count] = (scl_given){0};
  return &g->list[g->count++];
}

/* What reads one value, at place key+1, into one or more given values. */
typedef void (*value_reader)(lua_State *L, int key, const void *context, gathering *out);

/* Rows that C declares: whoever reads opaque values judges them. */
typedef struct plain_rows {
  const scl_option *list;
  size_t count;
} plain_rows;

static void read_plain(lua_State *L, int key, const void *context, gathering *out) {
  const plain_rows *rows = context;
  scl_given *given = more_given(L, out);
  for (size_t i = 0; i < rows->count; i++)
    if (rows->list[i].forms & SCL_FORM_OPAQUE &&
        strcmp(rows->list[i].name, lua_tostring(L, key)) == 0) {
      *given = (scl_given){.value = {.form = SCL_FORM_OPAQUE}};
      return;
    }
  read_value(L, key + 1, given);
}

/* The table at `place` becomes a plain copy, which keeps what the values point to. */
static const scl_given *read_all(lua_State *L, int place, const char *title, value_reader read,
                                 const void *context, size_t *count) {
  *count = 0;
  if (lua_isnoneornil(L, place)) return NULL;
  if (lua_type(L, place) != LUA_TTABLE) {
    luaL_error(L, "%s: takes a table of named options, and got %s", title, scl_lua_shown(L, place));
  }
  luaL_checkstack(L, 60, "too many options");
  scl_lua_copy_table(L, place, title);
  lua_pushnil(L);
  gathering given = {.place = lua_gettop(L)};
  lua_newtable(L); /* values, to keep them alive */
  const int kept = lua_gettop(L);
  lua_Integer held = 0;
  lua_pushnil(L);
  while (lua_next(L, place) != 0) {
    const int key = lua_gettop(L) - 1;
    const char *name = name_of(L, key, title);
    const size_t first = given.count;
    read(L, key, context, &given);
    for (size_t i = first; i < given.count; i++)
      given.list[i].name = name;
    while (lua_gettop(L) > key)
      lua_rawseti(L, kept, ++held); /* the value and whatever it needed */
  }
  if (given.count > 1) qsort(given.list, given.count, sizeof *given.list, by_name);
  *count = given.count;
  return given.list;
}

scl_settings scl_lua_check_settings(lua_State *L, int place, const char *title,
                                    const scl_option *options, size_t n_options) {
  const plain_rows rows = {options, n_options};
  size_t count;
  scl_settings settings;
  const scl_given *given = read_all(L, place, title, read_plain, &rows, &count);
  SCL_LUA_TRY(L, scl_settings_create(title, options, n_options, given, count, &settings, &error));
  return settings;
}

/* ------------------------------------------------------------ values and declared rows, to Lua */

void scl_lua_push_value(lua_State *L, const scl_value *value) {
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

/* The forms of numbers that it takes, and their range: what `takes` says in words. */
static void set_range(lua_State *L, const scl_option *option) {
  const bool any = option->low == 0 && option->high == 0;
  scl_lua_set_boolean(L, "takes_number", option->forms & SCL_FORM_NUMBER);
  scl_lua_set_boolean(L, "takes_integer", option->forms & SCL_FORM_INTEGER);
  scl_lua_set_boolean(L, "takes_boolean", option->forms & SCL_FORM_BOOLEAN);
  scl_lua_set_boolean(L, "takes_word", option->forms & SCL_FORM_WORD);
  scl_lua_set_boolean(L, "low_open", any || option->range & SCL_RANGE_LOW_OPEN);
  scl_lua_set_boolean(L, "high_open", any || option->range & SCL_RANGE_HIGH_OPEN);
  SCL_LUA_NUMBERS(L, {"low", any ? -INFINITY : option->low},
                  {"high", any ? INFINITY : option->high});
}

void scl_lua_push_option(lua_State *L, const scl_option *option) {
  static const char *const roles[] = {NULL,        "regularisation", "capacity",
                                      "intercept", "estimate",       "bias"};
  static const char *const widths[] = {NULL, "gamma", "length", "frequency", "rate"};
  char takes[300];
  lua_newtable(L);
  scl_lua_set_text(L, "name", option->name);
  scl_lua_set_text(L, "takes", scl_option_takes(option, takes, sizeof takes));
  scl_lua_set_text(L, "default", option->fallback);
  scl_lua_set_text(L, "help", option->help);
  if ((unsigned)option->role < sizeof roles / sizeof *roles)
    scl_lua_set_text(L, "role", roles[option->role]);
  if ((unsigned)option->width < sizeof widths / sizeof *widths)
    scl_lua_set_text(L, "width", widths[option->width]);
  set_range(L, option);
  push_words(L, option->words);
  lua_setfield(L, -2, "words");
}

/* ------------------------------------------------------------ rows that Lua declares */

#define SCL_LUA_ROWS "scullery.option_rows"

typedef struct declared_rows {
  size_t count;
  bool *searchable;
  scl_option list[]; /* their texts are those of a table that the handle keeps */
} declared_rows;

static void release_rows(void *declared) { scl_release(declared); }

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
  declared_rows *r = *slot =
      scl_allocate_zero(sizeof *r + (count + 1) * (sizeof *r->list + sizeof(bool)));
  if (r == NULL) return luaL_error(L, "not enough memory for options");
  r->searchable = (bool *)(r->list + count + 1);
  for (; r->count < count; r->count++) {
    scl_lua_push_table(L, 1, r->count, "rows");
    scl_option *row = &r->list[r->count];
    read_row(L, row);
    if (row->name == NULL) return luaL_error(L, "row %I has no name", (LUAI_UACINT)r->count + 1);
    r->searchable[r->count] = scl_lua_field_flag(L, lua_gettop(L), "searchable");
    lua_rawseti(L, 1, (lua_Integer)r->count + 1);
  }
  scl_lua_tie(L, -1, 1); /* texts are those of the copies */
  return 1;
}

/* Reads values against declared rows: opaque ones are shown to their tests, and a searched one
 * stands for each of its values. */
typedef struct reading {
  const declared_rows *rows;
  int tests, show; /* places of the table of tests, and of the function that shows a value */
} reading;

static const char *shown(lua_State *L, const reading *r, int place) {
  lua_pushvalue(L, r->show);
  lua_pushvalue(L, place);
  lua_call(L, 1, 1);
  return luaL_tolstring(L, -1, NULL); /* left on the stack */
}

static void read_opaque(lua_State *L, const reading *r, const char *name, int place,
                        gathering *out) {
  bool taken = true;
  if (lua_getfield(L, r->tests, name) != LUA_TNIL) {
    lua_pushvalue(L, -1);
    lua_pushvalue(L, place);
    lua_call(L, 1, 1);
    taken = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  const char *word = taken ? NULL : shown(L, r, place);
  *more_given(L, out) =
      (scl_given){.value = {.form = SCL_FORM_OPAQUE, .place = taken ? 0 : -1, .word = word}};
}

static void read_declared_one(lua_State *L, const reading *r, const scl_option *row,
                              const char *name, int place, gathering *out) {
  if (row != NULL && row->forms & SCL_FORM_OPAQUE) {
    read_opaque(L, r, name, place, out);
    return;
  }
  scl_given given;
  read_value(L, place, &given);
  const uint32_t simple = SCL_FORM_NUMBER | SCL_FORM_INTEGER | SCL_FORM_BOOLEAN | SCL_FORM_WORD;
  if (!(given.value.form & simple))
    given.value = (scl_value){.form = SCL_FORM_OPAQUE, .place = -1, .word = shown(L, r, place)};
  *more_given(L, out) = given;
}

/* Whether sc.choose{} stands at `place`; a plain copy of its values is left on the stack. */
static bool is_choose(lua_State *L, int place) {
  if (lua_type(L, place) != LUA_TTABLE || luaL_getmetafield(L, place, "__name") == LUA_TNIL)
    return false;
  const bool named = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "choose") == 0;
  lua_pop(L, 1);
  if (!named) return false;
  lua_pushliteral(L, "values");
  if (lua_rawget(L, place) != LUA_TTABLE) return false;
  scl_lua_copy_table(L, lua_gettop(L), "choose");
  return true;
}

static const scl_option *find_row(const declared_rows *r, const char *name, bool *searchable) {
  *searchable = false;
  for (size_t i = 0; i < r->count; i++)
    if (strcmp(r->list[i].name, name) == 0) {
      *searchable = r->searchable[i];
      return &r->list[i];
    }
  return NULL;
}

static void read_declared(lua_State *L, int key, const void *context, gathering *out) {
  const reading *r = context;
  const char *name = lua_tostring(L, key);
  bool searchable;
  const scl_option *row = find_row(r->rows, name, &searchable);
  if (!searchable || !is_choose(L, key + 1)) {
    read_declared_one(L, r, row, name, key + 1, out);
    return;
  }
  const int list = lua_gettop(L);
  const size_t values = length_of(L, list);
  for (size_t i = 0; i < values; i++) {
    luaL_checkstack(L, 12, "too many values");
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    read_declared_one(L, r, row, name, lua_gettop(L), out);
  }
}

/* core.check_options(title, rows, options, tests, show): raises what is wrong; tests[name](value)
 * tells whether an opaque value is taken, show(value) how a value looks. */
static int check_options(lua_State *L) {
  const char *title = luaL_checkstring(L, 1);
  const declared_rows *r = scl_lua_check_handle(L, 2, SCL_LUA_ROWS);
  scl_lua_copy_table(L, 4, "tests");
  luaL_checktype(L, 5, LUA_TFUNCTION);
  const reading context = {r, 4, 5};
  size_t count;
  scl_settings settings;
  if (!lua_isnil(L, 3) && lua_type(L, 3) != LUA_TTABLE)
    return luaL_error(L, "%s: takes a table of named options, and got %s", title,
                      shown(L, &context, 3));
  const scl_given *given = read_all(L, 3, title, read_declared, &context, &count);
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
  lua_pushstring(L, scl_nearest(word, names, count));
  return 1;
}

void scl_lua_open_options(lua_State *L) {
  SCL_LUA_CALLS(L, {"option_rows", option_rows, 1}, {"check_options", check_options, 5},
                {"nearest", nearest, 2});
}
