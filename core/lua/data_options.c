#include "lua/data_options.h"

#include "plugin/options.h"
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- lists of texts */

static void check_text(lua_State *L, int place, const char *title, const char *what) {
  size_t length;
  if (lua_type(L, place) != LUA_TSTRING)
    luaL_error(L, "%s: '%s' got a %s; it takes a text or a list of texts", title, what,
               luaL_typename(L, place));
  const char *text = lua_tolstring(L, place, &length);
  if (strlen(text) != length)
    luaL_error(L, "%s: '%s' got a text with a zero byte in it", title, what);
}

/* Pushes text i (from 1) of the text or list at `place`. */
static const char *push_text(lua_State *L, int place, size_t i, const char *title,
                             const char *what) {
  if (lua_type(L, place) == LUA_TSTRING)
    lua_pushvalue(L, place);
  else
    lua_rawgeti(L, place, (lua_Integer)i);
  check_text(L, -1, title, what);
  return lua_tostring(L, -1);
}

const char *const *scl_lua_check_texts(lua_State *L, int place, const char *title, const char *what,
                                       size_t *count) {
  const bool single = lua_type(L, place) == LUA_TSTRING;
  place = lua_absindex(L, place);
  if (!single && lua_type(L, place) != LUA_TTABLE) check_text(L, place, title, what);
  *count = single ? 1 : (size_t)lua_rawlen(L, place);
  size_t bytes = (*count + 1) * sizeof(char *);
  for (size_t i = 1; i <= *count; i++) {
    bytes += strlen(push_text(L, place, i, title, what)) + 1;
    lua_pop(L, 1);
  }
  char **list = lua_newuserdatauv(L, bytes, 0);
  char *to = (char *)(list + *count + 1);
  for (size_t i = 1; i <= *count; i++) {
    const char *text = push_text(L, place, i, title, what);
    const size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    list[i - 1] = to;
    to += size;
    lua_pop(L, 1);
  }
  list[*count] = NULL;
  return (const char *const *)list;
}

/* ---------------------------------------------------------------- single options */

static void refuse_key(lua_State *L, const char *title, const char *key, const char *const *known) {
  luaL_Buffer names;
  size_t count = 0;
  while (known[count] != NULL)
    count++;
  const char *near = scl_nearest(key, known, count);
  luaL_buffinit(L, &names);
  for (size_t i = 0; i < count; i++) {
    if (i > 0) luaL_addstring(&names, ", ");
    luaL_addstring(&names, known[i]);
  }
  luaL_pushresult(&names);
  luaL_error(L, "%s: unknown option '%s'%s%s%s; it takes %s", title, key,
             near == NULL ? "" : " (did you mean '", near == NULL ? "" : near,
             near == NULL ? "" : "'?)", lua_tostring(L, -1));
}

void scl_lua_check_keys(lua_State *L, int place, const char *title, const char *const *known) {
  if (lua_isnil(L, place)) {
    lua_newtable(L);
    lua_replace(L, place);
  }
  if (lua_type(L, place) != LUA_TTABLE)
    luaL_error(L, "%s: takes a table of named options, and got a %s", title,
               luaL_typename(L, place));
  for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1)) {
    const char *const *name = known;
    if (lua_type(L, -2) != LUA_TSTRING)
      luaL_error(L, "%s: takes named options, and got a value without a name", title);
    while (*name != NULL && strcmp(*name, lua_tostring(L, -2)) != 0)
      name++;
    if (*name == NULL) refuse_key(L, title, lua_tostring(L, -2), known);
  }
}

/* Raise: the value at `at` is none that the option takes. */
static void refuse_value(lua_State *L, const char *title, const char *key, const char *takes,
                         int at) {
  const int type = lua_type(L, at);
  const char *quote = type == LUA_TSTRING ? "\"" : "";
  const char *text = type == LUA_TTABLE || type == LUA_TUSERDATA || type == LUA_TFUNCTION
                         ? luaL_typename(L, at)
                         : luaL_tolstring(L, at, NULL);
  luaL_error(L, "%s: option '%s' got %s%s%s; it takes %s", title, key, quote, text, quote, takes);
}

double scl_lua_option_number(lua_State *L, int place, const char *title, const char *key,
                             double absent, double low, double high, bool whole) {
  if (lua_getfield(L, place, key) == LUA_TNIL) {
    lua_pop(L, 1);
    return absent;
  }
  const double value = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
  if (!(value >= low && value <= high) || !isfinite(value) || (whole && value != floor(value))) {
    const int at = lua_gettop(L);
    refuse_value(L, title, key,
                 whole ? lua_pushfstring(L, "a whole number from %d to %d", (int)low, (int)high)
                       : "a finite number",
                 at);
  }
  lua_pop(L, 1);
  return value;
}

int scl_lua_option_word(lua_State *L, int place, const char *title, const char *key,
                        const char *words, int absent) {
  if (lua_getfield(L, place, key) == LUA_TNIL) {
    lua_pop(L, 1);
    return absent;
  }
  const int at = lua_gettop(L);
  const char *given = lua_type(L, at) == LUA_TSTRING ? lua_tostring(L, at) : "";
  int number = 0;
  for (const char *word = words; word != NULL; number++) {
    const char *bar = strchr(word, '|');
    const size_t length = bar == NULL ? strlen(word) : (size_t)(bar - word);
    if (strlen(given) == length && strncmp(word, given, length) == 0) {
      lua_pop(L, 1);
      return number;
    }
    word = bar == NULL ? NULL : bar + 1;
  }
  refuse_value(L, title, key, lua_pushfstring(L, "one of %s", luaL_gsub(L, words, "|", ", ")), at);
  return absent;
}

static scl_choice option_choice(lua_State *L, int place, const char *title, const char *key) {
  const int type = lua_getfield(L, place, key);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN)
    refuse_value(L, title, key, "true or false", lua_gettop(L));
  const scl_choice choice = type == LUA_TNIL ? SCL_AUTO : lua_toboolean(L, -1) ? SCL_YES : SCL_NO;
  lua_pop(L, 1);
  return choice;
}

/* NULL where it is absent; otherwise the copy is left on the stack. */
static const char *const *option_texts(lua_State *L, int place, const char *title,
                                       const char *key) {
  size_t count;
  if (lua_getfield(L, place, key) == LUA_TNIL) {
    lua_pop(L, 1);
    return NULL;
  }
  if (lua_type(L, -1) != LUA_TSTRING && lua_type(L, -1) != LUA_TTABLE)
    refuse_value(L, title, key, "a text or a list of texts", lua_gettop(L));
  const char *const *list = scl_lua_check_texts(L, -1, title, key, &count);
  lua_remove(L, -2);
  return list;
}

/* ---------------------------------------------------------------- options of a CSV file */

static void check_target(lua_State *L, int place, const char *title, scl_csv_options *o) {
  const int type = lua_getfield(L, place, "target");
  int whole = 0;
  const lua_Integer number = lua_tointegerx(L, -1, &whole);
  if (type == LUA_TSTRING) {
    check_text(L, -1, title, "target");
    o->target = lua_tostring(L, -1); /* the table keeps it while we read */
  } else if (type == LUA_TBOOLEAN && !lua_toboolean(L, -1)) {
    o->target_place = 0;
  } else if (type != LUA_TNIL) {
    if (type != LUA_TNUMBER || !whole || number == 0 || number > INT32_MAX || number < -INT32_MAX)
      refuse_value(L, title, "target",
                   "a column's name, its number (from 1, negative from the end), or false for none",
                   lua_gettop(L));
    o->target_place = (long)number;
  }
  lua_pop(L, 1);
}

static void check_separator(lua_State *L, int place, const char *title, scl_csv_options *o) {
  if (lua_getfield(L, place, "separator") != LUA_TNIL) {
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    if (text[0] == 0 || text[1] != 0 || strchr(",;\t|:!#$%&*/@^~", text[0]) == NULL)
      refuse_value(L, title, "separator", "one character: a comma, semicolon, tab, bar or the like",
                   lua_gettop(L));
    o->separator = text[0];
  }
  lua_pop(L, 1);
}

static void check_numeric(lua_State *L, int place, const char *title, scl_csv_options *o) {
  const int type = lua_getfield(L, place, "numeric");
  if (type == LUA_TBOOLEAN) o->all_numeric = lua_toboolean(L, -1);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN && type != LUA_TTABLE && type != LUA_TSTRING)
    refuse_value(L, title, "numeric", "true, or a list of columns that must hold numbers",
                 lua_gettop(L));
  lua_pop(L, 1);
  if (type == LUA_TTABLE || type == LUA_TSTRING)
    o->numeric = option_texts(L, place, title, "numeric");
}

static scl_missing check_fill(lua_State *L, int place, const char *title) {
  const int fill =
      scl_lua_option_word(L, place, title, "fill", "median|error|row", SCL_MISSING_MEDIAN);
  return (scl_missing)scl_lua_option_word(L, place, title, "missing_values", "median|error|row",
                                          fill);
}

scl_csv_options scl_lua_check_csv_options(lua_State *L, int place, const char *title, int *words) {
  static const char *const known[] = {"categorical", "columns",   "dtype",   "fill",
                                      "header",      "levels",    "missing", "missing_values",
                                      "numeric",     "separator", "skip",    "stream",
                                      "target",      "task",      NULL};
  scl_csv_options o;
  scl_csv_defaults(&o);
  luaL_checkstack(L, 20, title);
  scl_lua_check_keys(L, place, title, known);
  check_target(L, place, title, &o);
  o.classification = (scl_choice)scl_lua_option_word(L, place, title, "task",
                                                     "regression|classification", SCL_AUTO);
  o.header = option_choice(L, place, title, "header");
  o.drop_categorical = scl_lua_option_word(L, place, title, "categorical", "onehot|drop", 0) == 1;
  o.fill = check_fill(L, place, title);
  o.dtype = scl_lua_option_word(L, place, title, "dtype", "float64|float32", 0) == 1
                ? SCL_DTYPE_FLOAT32
                : SCL_DTYPE_FLOAT64;
  check_separator(L, place, title, &o);
  check_numeric(L, place, title, &o);
  o.skip = option_texts(L, place, title, "skip");
  o.levels = option_texts(L, place, title, "levels");
  o.names = option_texts(L, place, title, "columns");
  const char *const *missing = option_texts(L, place, title, "missing");
  if (missing != NULL) o.missing = missing;
  if (words != NULL) *words = missing == NULL ? 0 : lua_gettop(L);
  return o;
}
