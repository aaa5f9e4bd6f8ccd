/* scullery.core: options declared by Lua functions, and options of all kinds read from Lua. */
#include "lua/options.h"

#include "base/text.h"
#include "lua/handle.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ values as they come; all memory is
 * Lua's */

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

/* {name = number(s)}: the name below and the value on top of the stack. */
static void read_named(lua_State *L, int place, scl_value *out) {
  int number;
  out->form = SCL_FORM_NAMED;
  out->word = lua_type(L, -2) == LUA_TSTRING && !has_two(L, place) ? lua_tostring(L, -2)
                                                                   : "?"; /* alive in the table */
  if (lua_type(L, -1) == LUA_TTABLE) {
    const int value = lua_gettop(L);
    out->list = list_from(L, value, &out->length);
    return;
  }
  double *one = lua_newuserdatauv(L, sizeof *one, 0);
  *one = lua_tonumberx(L, -2, &number);
  if (!number) *one = NAN;
  out->list = one;
  out->length = 1;
}

/* The table at `place`: a list, or {name = number(s)}. */
static void read_table(lua_State *L, int place, scl_value *out) {
  if (luaL_len(L, place) == 0) {
    lua_pushnil(L);
    if (lua_next(L, place) != 0) {
      read_named(L, place, out);
      return;
    }
  }
  out->form = SCL_FORM_LIST;
  out->list = list_from(L, place, &out->length);
}

/* A value of no form: told by its type. */
static void read_other(lua_State *L, int place, scl_value *out) {
  *out = (scl_value){.form = SCL_FORM_OPAQUE, .place = -1, .word = luaL_typename(L, place)};
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
    if (!read_parts(L, place, given)) read_other(L, place, out);
    break;
  default:
    read_other(L, place, out);
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

/* What reads one value, at place key+1, into *count or more given values, of which there are `room`
 * at most. */
typedef size_t (*value_reader)(lua_State *L, int key, const void *context, scl_given *out,
                               size_t room);

/* Rows that C declares: whoever reads opaque values judges them. */
typedef struct plain_rows {
  const scl_option *list;
  size_t count;
} plain_rows;

static size_t read_plain(lua_State *L, int key, const void *context, scl_given *out, size_t room) {
  const plain_rows *rows = context;
  (void)room;
  for (size_t i = 0; i < rows->count; i++)
    if (rows->list[i].forms & SCL_FORM_OPAQUE &&
        strcmp(rows->list[i].name, lua_tostring(L, key)) == 0) {
      *out = (scl_given){.value = {.form = SCL_FORM_OPAQUE}};
      return 1;
    }
  read_value(L, key + 1, out);
  return 1;
}

static const scl_given *read_all(lua_State *L, int place, const char *title, value_reader read,
                                 const void *context, size_t room, size_t *count) {
  *count = 0;
  if (lua_isnoneornil(L, place)) return NULL;
  if (lua_type(L, place) != LUA_TTABLE) {
    luaL_error(L, "%s: takes a table of named options, and got %s", title, scl_lua_shown(L, place));
  }
  scl_given *given = lua_newuserdatauv(L, (room + 1) * sizeof *given, 0);
  luaL_checkstack(L, 60, "too many options");
  lua_newtable(L); /* values, to keep them alive */
  const int kept = lua_gettop(L);
  lua_Integer held = 0;
  lua_pushnil(L);
  while (lua_next(L, place) != 0) {
    const int key = lua_gettop(L) - 1;
    const char *name = name_of(L, key, title);
    const size_t more = read(L, key, context, given + *count, room - *count);
    for (size_t i = 0; i < more; i++)
      given[*count + i].name = name;
    *count += more;
    while (lua_gettop(L) > key)
      lua_rawseti(L, kept, ++held); /* the value and whatever it needed */
  }
  qsort(given, *count, sizeof *given, by_name);
  return given;
}

static size_t count_names(lua_State *L, int place) {
  size_t count = 0;
  if (lua_type(L, place) != LUA_TTABLE) return 0;
  for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1))
    count++;
  return count;
}

scl_settings scl_lua_check_settings(lua_State *L, int place, const char *title,
                                    const scl_option *options, size_t n_options) {
  const plain_rows rows = {options, n_options};
  size_t count;
  scl_settings settings;
  scl_error error = {0};
  const scl_given *given =
      read_all(L, place, title, read_plain, &rows, count_names(L, place), &count);
  scl_lua_check(L, scl_settings_create(title, options, n_options, given, count, &settings, &error),
                &error);
  return settings;
}

/* ------------------------------------------------------------ declared rows, to Lua */

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

void scl_lua_push_option(lua_State *L, const scl_option *option) {
  static const char *const roles[] = {NULL,        "regularisation", "capacity",
                                      "intercept", "estimate",       "bias"};
  char takes[300];
  lua_newtable(L);
  scl_lua_set_text(L, "name", option->name);
  scl_lua_set_text(L, "takes", scl_option_takes(option, takes, sizeof takes));
  scl_lua_set_text(L, "default", option->fallback);
  scl_lua_set_text(L, "help", option->help);
  if ((unsigned)option->role < sizeof roles / sizeof *roles)
    scl_lua_set_text(L, "role", roles[option->role]);
  push_words(L, option->words);
  lua_setfield(L, -2, "words");
}

/* ------------------------------------------------------------ rows that Lua declares */

#define SCL_LUA_ROWS "scullery.option_rows"

typedef struct rows {
  size_t count;
  scl_option *list; /* with texts of their own */
  bool *searchable;
} rows;

static void release_rows(void *pointer) {
  rows *r = pointer;
  for (size_t i = 0; r->list != NULL && i < r->count; i++) {
    scl_release((void *)(uintptr_t)r->list[i].name);
    scl_release((void *)(uintptr_t)r->list[i].words);
  }
  SCL_RELEASE(r->list, r->searchable, r);
}

static const char *text_field(lua_State *L, const char *key) {
  char *copy = NULL;
  if (lua_getfield(L, -1, key) != LUA_TNIL &&
      (copy = scl_copy_text(luaL_checkstring(L, -1))) == NULL)
    luaL_error(L, "not enough memory for options");
  lua_pop(L, 1);
  return copy;
}

static bool flag_field(lua_State *L, const char *key) {
  lua_getfield(L, -1, key);
  const bool flag = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return flag;
}

static double number_field(lua_State *L, const char *key, double absent) {
  lua_getfield(L, -1, key);
  const double number = luaL_optnumber(L, -1, absent);
  lua_pop(L, 1);
  return number;
}

/* The row on top of the stack: {name =, form = "number" | "integer" | "boolean" | "word" |
 * "opaque", words =, low =, high =, above =, required =}. */
static void read_row(lua_State *L, scl_option *row) {
  static const char *const forms[] = {"number", "integer", "boolean", "word", "opaque", NULL};
  static const uint32_t bits[] = {SCL_FORM_NUMBER, SCL_FORM_INTEGER, SCL_FORM_BOOLEAN,
                                  SCL_FORM_WORD, SCL_FORM_OPAQUE};
  row->name = text_field(L, "name");
  row->words = text_field(L, "words");
  lua_getfield(L, -1, "form");
  row->forms = bits[luaL_checkoption(L, -1, NULL, forms)];
  lua_pop(L, 1);
  if (flag_field(L, "required")) row->forms |= SCL_FORM_REQUIRED;
  const double above = number_field(L, "above", -INFINITY);
  row->low = number_field(L, "low", above);
  row->high = number_field(L, "high", INFINITY);
  row->range = (above > -INFINITY ? SCL_RANGE_LOW_OPEN : 0) |
               (isinf(row->low) ? SCL_RANGE_LOW_OPEN : 0) |
               (isinf(row->high) ? SCL_RANGE_HIGH_OPEN : 0);
}

/* core.option_rows(list of rows) -> rows, for core.check_options */
static int option_rows(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const size_t count = (size_t)luaL_len(L, 1);
  void **slot = scl_lua_new_handle(L, SCL_LUA_ROWS, release_rows, 0);
  rows *r = scl_allocate_zero(sizeof *r);
  if (r == NULL) return luaL_error(L, "not enough memory for options");
  *slot = r;
  r->list = scl_allocate_zero((count + 1) * sizeof *r->list);
  r->searchable = scl_allocate_zero((count + 1) * sizeof *r->searchable);
  if (r->list == NULL || r->searchable == NULL)
    return luaL_error(L, "not enough memory for options");
  for (size_t i = 0; i < count; i++) {
    lua_geti(L, 1, (lua_Integer)i + 1);
    r->count = i + 1;
    read_row(L, &r->list[i]);
    r->searchable[i] = flag_field(L, "searchable");
    lua_pop(L, 1);
  }
  return 1;
}

/* Reads values against declared rows: opaque ones are shown to their tests, and a searched one
 * stands for each of its values. */
typedef struct reading {
  const rows *rows;
  int tests, show; /* places of the table of tests, and of the function that shows a value */
} reading;

static const char *shown(lua_State *L, const reading *r, int place) {
  lua_pushvalue(L, r->show);
  lua_pushvalue(L, place);
  lua_call(L, 1, 1);
  return luaL_tolstring(L, -1, NULL); /* left on the stack */
}

static void read_opaque(lua_State *L, const reading *r, const char *name, int place,
                        scl_given *out) {
  bool taken = true;
  if (lua_getfield(L, r->tests, name) != LUA_TNIL) {
    lua_pushvalue(L, -1);
    lua_pushvalue(L, place);
    lua_call(L, 1, 1);
    taken = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  *out = (scl_given){.value = {.form = SCL_FORM_OPAQUE, .place = taken ? 0 : -1}};
  if (!taken) out->value.word = shown(L, r, place);
}

static void read_declared_one(lua_State *L, const reading *r, const scl_option *row,
                              const char *name, int place, scl_given *out) {
  if (row != NULL && row->forms & SCL_FORM_OPAQUE) {
    read_opaque(L, r, name, place, out);
    return;
  }
  read_value(L, place, out);
  const uint32_t simple = SCL_FORM_NUMBER | SCL_FORM_INTEGER | SCL_FORM_BOOLEAN | SCL_FORM_WORD;
  if (!(out->value.form & simple))
    out->value = (scl_value){.form = SCL_FORM_OPAQUE, .place = -1, .word = shown(L, r, place)};
}

/* The number of values that sc.choose{} at `place` stands for, 0 where it is none; the list is left
 * on the stack. */
static size_t choose_values(lua_State *L, int place) {
  size_t count = 0;
  if (luaL_getmetafield(L, place, "__name") == LUA_TNIL) return 0;
  const bool choose = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "choose") == 0;
  lua_pop(L, 1);
  if (choose && lua_getfield(L, place, "values") == LUA_TTABLE) count = (size_t)luaL_len(L, -1);
  return count;
}

static const scl_option *find_row(const rows *r, const char *name, bool *searchable) {
  *searchable = false;
  for (size_t i = 0; i < r->count; i++)
    if (strcmp(r->list[i].name, name) == 0) {
      *searchable = r->searchable[i];
      return &r->list[i];
    }
  return NULL;
}

static size_t read_declared(lua_State *L, int key, const void *context, scl_given *out,
                            size_t room) {
  const reading *r = context;
  const char *name = lua_tostring(L, key);
  bool searchable;
  const scl_option *row = find_row(r->rows, name, &searchable);
  const size_t values = searchable ? scl_min(choose_values(L, key + 1), room) : 0;
  const int list = lua_gettop(L);
  for (size_t i = 0; i < values; i++) {
    luaL_checkstack(L, 8, "too many values");
    lua_geti(L, list, (lua_Integer)i + 1);
    read_declared_one(L, r, row, name, lua_gettop(L), &out[i]);
  }
  if (values == 0) read_declared_one(L, r, row, name, key + 1, out);
  return values == 0 ? 1 : values;
}

/* Given values at most: sc.choose{} brings several. */
static size_t count_values(lua_State *L, int place) {
  size_t count = 0;
  if (lua_type(L, place) != LUA_TTABLE) return 0;
  lua_pushnil(L);
  while (lua_next(L, place) != 0) {
    const int value = lua_gettop(L);
    count += 1 + choose_values(L, value);
    lua_settop(L, value - 1);
  }
  return count;
}

/* core.check_options(title, rows, options, tests, show): raises what is wrong; tests[name](value)
 * tells whether an opaque value is taken, show(value) how a value looks. */
static int check_options(lua_State *L) {
  lua_settop(L, 5);
  const char *title = luaL_checkstring(L, 1);
  const rows *r = scl_lua_check_handle(L, 2, SCL_LUA_ROWS);
  const reading context = {r, 4, 5};
  size_t count;
  scl_settings settings;
  scl_error error = {0};
  if (!lua_isnil(L, 3) && lua_type(L, 3) != LUA_TTABLE)
    return luaL_error(L, "%s: takes a table of named options, and got %s", title,
                      shown(L, &context, 3));
  const scl_given *given =
      read_all(L, 3, title, read_declared, &context, count_values(L, 3), &count);
  scl_lua_check(L, scl_settings_create(title, r->list, r->count, given, count, &settings, &error),
                &error);
  scl_settings_destroy(&settings);
  return 0;
}

/* core.nearest(word, names) -> the name most like the word, or nil */
static int nearest(lua_State *L) {
  const char *word = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const size_t count = (size_t)luaL_len(L, 2);
  const char **names = lua_newuserdatauv(L, (count + 1) * sizeof *names, 0);
  for (size_t i = 0; i < count; i++) {
    names[i] = lua_geti(L, 2, (lua_Integer)i + 1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    lua_pop(L, 1); /* the list keeps it */
  }
  lua_pushstring(L, scl_nearest(word, names, count));
  return 1;
}

void scl_lua_open_options(lua_State *L) {
  SCL_LUA_FUNCTIONS(L, {"option_rows", option_rows}, {"check_options", check_options},
                    {"nearest", nearest});
}
