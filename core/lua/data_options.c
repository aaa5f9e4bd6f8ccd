/* Options of the readers (data/options.h), and values that only a reader can check: names of columns,
 * the target, schemas. */
#include "lua/data_options.h"
#include "lua/list.h"
#include "lua/schema.h"

#include <string.h>

void scl_lua_check_titled(lua_State *L, const char *title, scl_status status, scl_error *error) {
  if (status == SCL_STATUS_OK) return;
  if (title != NULL) (void)scl_prefix(error, "%s", title);
  scl_lua_raise(L, error);
}

/* ------------ lists of texts */

/* Raise unless the value at `place` is a text that C reads as a whole. */
static void check_text(lua_State *L, int place, const char *title, const char *what) {
  size_t length;
  if (lua_type(L, place) != LUA_TSTRING)
    luaL_error(L, "%s: '%s' got a %s; it takes a text or a list of texts", title, what,
               luaL_typename(L, place));
  const char *text = lua_tolstring(L, place, &length);
  if (strlen(text) != length)
    luaL_error(L, "%s: '%s' got a text with a zero byte in it", title, what);
}

const char *const *scl_lua_check_texts(lua_State *L, int place, const char *title, const char *what,
                                       size_t *count) {
  const bool single = lua_type(L, place) == LUA_TSTRING;
  place = lua_absindex(L, place);
  if (!single && lua_type(L, place) != LUA_TTABLE) check_text(L, place, title, what);
  if (!single) { /* a list has no names: a value under a name would be overlooked */
    for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1))
      if (lua_type(L, -2) != LUA_TNUMBER)
        luaL_error(L, "%s: '%s' got a table with the key %s; it takes a text or a list of texts",
                   title, what, scl_lua_shown(L, -2));
  } else {
    lua_createtable(L, 1, 0);
  }
  lua_pushvalue(L, place);
  if (single) lua_rawseti(L, -2, 1);
  const int copy = lua_gettop(L);
  *count = scl_lua_copy_list(L, copy, SCL_LUA_MOST, what);
  const char **texts = lua_newuserdatauv(L, (*count + 1) * sizeof *texts, 1);
  for (size_t i = 0; i < *count; i++) {
    lua_rawgeti(L, copy, (lua_Integer)i + 1);
    check_text(L, -1, title, what);
    texts[i] = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  texts[*count] = NULL;
  lua_insert(L, copy);
  lua_setiuservalue(L, copy, 1); /* the copy of the list keeps the texts */
  return texts;
}

/* ------------ a table of options */

/* A table of options that is being read: its place, the title for sentences, the declared rows and
 * the checked values. */
typedef struct option_table {
  lua_State *L;
  int place;
  const char *title;
  const scl_reader_options *declared;
  scl_settings settings;
} option_table;

/* Check the table at `place` (nil or nothing: an empty one takes its place) against the rows of a
 * reader. The caller ends `settings`, before anything that may raise. */
static option_table open_options(lua_State *L, int place, const char *title, const char *reader) {
  option_table t = {L, place, title, scl_reader_options_of(reader), {0}};
  if (lua_isnoneornil(L, place)) {
    lua_newtable(L);
    lua_replace(L, place);
  }
  t.settings = scl_lua_check_settings(L, place, title, t.declared->rows, t.declared->count);
  return t;
}

/* Raise: the option does not take the value on top of the stack. For values that the validator
 * cannot check; the sentence is made by the validator, as for all others. */
static void refuse_value(option_table *t, const char *name) {
  const scl_value value = {.form = SCL_FORM_OPAQUE, .place = -1, .word = scl_lua_shown(t->L, -1)};
  const scl_option *row = t->declared->rows;
  while (strcmp(row->name, name) != 0)
    row++;
  scl_settings_destroy(&t->settings);
  SCL_LUA_TRY(t->L,
              scl_settings_create(t->title, row, 1, &(scl_given){.name = name, .value = value}, 1,
                                  &t->settings, &error));
}

/* NULL where it is absent; otherwise the copy is left on the stack. */
static const char *const *texts_of(option_table *t, const char *name) {
  lua_State *L = t->L;
  size_t count;
  if (lua_getfield(L, t->place, name) == LUA_TNIL) {
    lua_pop(L, 1);
    return NULL;
  }
  if (lua_type(L, -1) != LUA_TSTRING && lua_type(L, -1) != LUA_TTABLE) refuse_value(t, name);
  const char *const *list = scl_lua_check_texts(L, -1, t->title, name, &count);
  lua_remove(L, -2);
  return list;
}

/* ------------ options of a CSV file */

static void read_roles(option_table *t, scl_csv_options *o) {
  lua_State *L = t->L;
  for (size_t k = 0; k < SCL_COLUMN_ROLES; k++) {
    if (lua_getfield(L, t->place, scl_column_role_names[k]) != LUA_TNIL) {
      if (lua_type(L, -1) != LUA_TSTRING) refuse_value(t, scl_column_role_names[k]);
      check_text(L, -1, t->title, scl_column_role_names[k]);
      o->roles[k] = lua_tostring(L, -1); /* the table keeps it while we read */
    }
    lua_pop(L, 1);
  }
}

/* target: a name, a place from 1 or negative from the end, or false, which is place 0: no
 * target. */
static void read_target(option_table *t, scl_csv_options *o) {
  lua_State *L = t->L;
  const int type = lua_getfield(L, t->place, "target");
  int whole = 0;
  const lua_Integer number = lua_tointegerx(L, -1, &whole);
  if (type == LUA_TSTRING) {
    check_text(L, -1, t->title, "target");
    o->target = lua_tostring(L, -1); /* the table keeps it while we read */
    o->target_said = true;
  } else if (type == LUA_TBOOLEAN && !lua_toboolean(L, -1)) {
    o->target_place = 0;
    o->target_said = true;
  } else if (type != LUA_TNIL) {
    if (type != LUA_TNUMBER || !whole || number == 0 || number > INT32_MAX || number < -INT32_MAX)
      refuse_value(t, "target");
    o->target_place = (long)number;
    o->target_said = true;
  }
  lua_pop(L, 1);
}

/* separator: one of the characters that can stand between fields without ambiguity. */
static void read_separator(option_table *t, scl_csv_options *o) {
  lua_State *L = t->L;
  if (lua_getfield(L, t->place, "separator") != LUA_TNIL) {
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    if (text[0] == 0 || text[1] != 0 || strchr(",;\t|:!#$%&*/@^~", text[0]) == NULL)
      refuse_value(t, "separator");
    o->separator = text[0];
  }
  lua_pop(L, 1);
}

/* numeric: true for all columns but the target, or the names of columns. */
static void read_numeric(option_table *t, scl_csv_options *o) {
  lua_State *L = t->L;
  const int type = lua_getfield(L, t->place, "numeric");
  if (type == LUA_TBOOLEAN) o->all_numeric = lua_toboolean(L, -1);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN && type != LUA_TTABLE && type != LUA_TSTRING)
    refuse_value(t, "numeric");
  lua_pop(L, 1);
  if (type == LUA_TTABLE || type == LUA_TSTRING) o->numeric = texts_of(t, "numeric");
}

/* Raise where `like` comes with an option that the schema determines. */
static void refuse_beside_like(option_table *t) {
  static const char *const names[] = {"skip", "levels", "numeric", "categorical", "dates"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (lua_getfield(t->L, t->place, names[i]) == LUA_TNIL)
      lua_pop(t->L, 1);
    else
      luaL_error(t->L,
                 "%s: options '%s' and 'like' were both given; the schema says how columns "
                 "are read",
                 t->title, names[i]);
}

/* like: the schema stays on the stack. Options that the user gave override what it says. */
static void read_like(option_table *t, scl_csv_options *o) {
  lua_State *L = t->L;
  if (lua_getfield(L, t->place, "like") == LUA_TNIL) {
    lua_pop(L, 1);
    return;
  }
  refuse_beside_like(t);
  const scl_schema *like = o->like = scl_lua_check_schema(L, lua_gettop(L), t->title);
  lua_remove(L, -2);
  const bool same_target = like->target != NULL && o->target_place != 0 &&
                           (o->target == NULL || strcmp(o->target, like->target) == 0);
  if (o->classification == SCL_AUTO && same_target)
    o->classification = like->classification ? SCL_YES : SCL_NO;
  o->missing = (const char *const *)like->missing;
}

/* Replace the values from place `first` to the top by one table of them, which keeps them. Returns
 * its place, 0 where there are none. */
static int keep_values(lua_State *L, int first) {
  const int count = lua_gettop(L) - first + 1;
  if (count == 0) return 0;
  lua_createtable(L, count, 0);
  lua_insert(L, first);
  for (int i = 1; i <= count; i++) {
    lua_pushvalue(L, first + i);
    lua_rawseti(L, first, i);
  }
  return first;
}

/* Validated values first: the settings own memory, and everything after their release may raise. */
scl_csv_options scl_lua_check_csv_options(lua_State *L, int place, const char *title, int *kept) {
  scl_csv_options o;
  scl_csv_defaults(&o);
  luaL_checkstack(L, 40, title);
  option_table t = open_options(L, place, title, "csv");
  const int fill = scl_csv_set_options(&t.settings, &o);
  scl_settings_destroy(&t.settings); /* what follows may raise */
  read_target(&t, &o);
  read_roles(&t, &o);
  read_separator(&t, &o);
  read_numeric(&t, &o);
  o.skip = texts_of(&t, "skip");
  o.levels = texts_of(&t, "levels");
  o.names = texts_of(&t, "columns");
  const int first = lua_gettop(L) + 1;
  read_like(&t, &o);
  o.fill = fill >= 0        ? (scl_missing)fill
           : o.like != NULL ? o.like->missing_values
                            : SCL_MISSING_MEDIAN;
  const char *const *missing = texts_of(&t, "missing");
  if (missing != NULL) o.missing = missing;
  const int place_kept = keep_values(L, first);
  if (kept != NULL) *kept = place_kept;
  return o;
}

/* ------------ options of the other readers */

/* The body of a function that returns the checked options of a reader. */
#define READ_OPTIONS(type, reader, say) \
  option_table t = open_options(L, place, title, reader); \
  const type o = say(&t.settings); \
  scl_settings_destroy(&t.settings); \
  return o

scl_libsvm_options scl_lua_check_libsvm_options(lua_State *L, int place, const char *title) {
  READ_OPTIONS(scl_libsvm_options, "libsvm", scl_libsvm_options_of);
}

scl_matrix_market_options scl_lua_check_matrix_market_options(lua_State *L, int place,
                                                              const char *title) {
  READ_OPTIONS(scl_matrix_market_options, "matrix_market", scl_matrix_market_options_of);
}

scl_idx_options scl_lua_check_idx_options(lua_State *L, int place, const char *title) {
  READ_OPTIONS(scl_idx_options, "idx", scl_idx_options_of);
}

/* ------------ for help and completion */

/* core.reader_options(reader) -> list of {name, takes, default, help, words}; nil: no such
 * reader */
static int reader_options(lua_State *L) {
  const scl_reader_options *of = scl_reader_options_of(luaL_checkstring(L, 1));
  if (of == NULL) return 0;
  lua_createtable(L, (int)of->count, 0);
  for (size_t i = 0; i < of->count; i++) {
    scl_lua_push_option(L, &of->rows[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* core.csv_missing() -> the texts that mean a missing value where nobody says others */
static int csv_missing(lua_State *L) {
  scl_csv_options o;
  size_t count = 0;
  scl_csv_defaults(&o);
  while (o.missing[count] != NULL)
    count++;
  scl_lua_push_texts(L, o.missing, count);
  return 1;
}

SCL_LUA_CALLS(scl_lua_data_options_calls, {"reader_options", reader_options, -1},
              {"csv_missing", csv_missing, -1});
