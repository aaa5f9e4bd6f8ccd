/* Schemas and notes of readers, to and from Lua. */
#include "lua/schema.h"
#include "base/text.h"
#include "lua/handle.h"
#include "lua/list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {"number", "category", "date", "skipped", NULL};
static const char *const rules[] = {"median", "error", "row", NULL};

/* ------------ to Lua */

static void set_texts(lua_State *L, const char *key, char *const *list, size_t count) {
  scl_lua_push_texts(L, (const char *const *)list, count);
  lua_setfield(L, -2, key);
}

/* A column as a table on the stack. A skipped column has no more than name and kind. */
static void push_column(lua_State *L, const scl_column *column) {
  lua_createtable(L, 0, 6);
  SCL_LUA_TEXTS(L, {"name", column->name}, {"kind", kinds[column->kind]});
  if (column->kind == SCL_COLUMN_SKIPPED) return;
  scl_lua_set_integer(L, "missing", column->missing);
  if (column->kind == SCL_COLUMN_CATEGORY) set_texts(L, "levels", column->levels, column->n_levels);
  if (column->kind == SCL_COLUMN_DATE && column->order != SCL_YEAR_FIRST)
    scl_lua_set_text(L, "order", scl_date_order_names[column->order]);
  if (column->loose) scl_lua_set_boolean(L, "loose", true);
  scl_lua_set_number(L, "fill", column->fill);
}

/* What Lua gets is a plain table: lua/scullery/data shows it, saves it, and passes it back as
 * `like`. */
void scl_lua_push_schema(lua_State *L, const scl_schema *schema) {
  lua_createtable(L, 0, 10);
  SCL_LUA_TEXTS(L, {"format", "csv"}, {"separator", (char[]){schema->separator, 0}});
  scl_lua_set_boolean(L, "header", schema->header);
  set_texts(L, "missing", schema->missing, schema->n_missing);
  SCL_LUA_TEXTS(L, {"missing_values", rules[schema->missing_values]},
                {"categorical", schema->drop_categorical ? "drop" : "onehot"});
  lua_createtable(L, (int)schema->n_columns, 0);
  for (size_t j = 0; j < schema->n_columns; j++) {
    push_column(L, &schema->columns[j]);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
  lua_setfield(L, -2, "columns");
  scl_lua_set_integer(L, "cols", scl_schema_cols(schema));
  for (size_t k = 0; k < SCL_COLUMN_ROLES; k++)
    if (schema->roles[k] != NULL) scl_lua_set_text(L, scl_column_role_names[k], schema->roles[k]);
  if (schema->time_in_dates) scl_lua_set_boolean(L, "time_in_dates", true);
  if (schema->target == NULL) return;
  lua_createtable(L, 0, 4);
  SCL_LUA_TEXTS(L, {"name", schema->target},
                {"kind", schema->target_is_category ? "category" : "number"},
                {"task", schema->classification ? "classification" : "regression"});
  scl_lua_set_integer(L, "place", schema->target_place);
  lua_setfield(L, -2, "target");
}

void scl_lua_push_notes(lua_State *L, const scl_note *notes, size_t count) {
  static const char *const whats[] = {"extra", "unknown", "filled", "large", "dropped"};
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    const scl_note *note = &notes[i];
    lua_createtable(L, 0, 5);
    SCL_LUA_TEXTS(L, {"what", whats[note->kind]}, {"column", note->column});
    scl_lua_set_integer(L, "count", note->count);
    if (note->kind == SCL_NOTE_UNKNOWN) scl_lua_set_text(L, "example", note->example);
    if (note->kind == SCL_NOTE_FILLED) scl_lua_set_number(L, "value", note->value);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* ------------ from Lua; a table may be anything */

/* A schema that is being read from a table of a script. */
typedef struct reading {
  lua_State *L;
  const char *title;
  char where[160]; /* what is read, for sentences */
} reading;

/* Raise: a field of the schema is not what it should be. */
static int refuse(const reading *r, const char *key, const char *takes) {
  return luaL_error(r->L, "%s: option 'like' has %s whose '%s' is not %s", r->title, r->where, key,
                    takes);
}

/* What was allocated, or an error. */
static void *check_made(const reading *r, void *made) {
  if (made == NULL) luaL_error(r->L, "%s: not enough memory for a schema", r->title);
  return made;
}

/* A copy of the text on top of the stack, which is popped. */
static char *copy_text(const reading *r, const char *key, const char *takes) {
  size_t length = 0;
  const char *text = lua_type(r->L, -1) == LUA_TSTRING ? lua_tolstring(r->L, -1, &length) : NULL;
  if (text == NULL || strlen(text) != length)
    refuse(r, key, text == NULL ? takes : lua_pushfstring(r->L, "%s without zero bytes", takes));
  char *copy = check_made(r, scl_copy_text(text));
  lua_pop(r->L, 1);
  return copy;
}

/* A copy of the text in the field `key` of the table on top of the stack. */
static char *text_field(const reading *r, const char *key) {
  lua_getfield(r->L, -1, key);
  return copy_text(r, key, "a text");
}

/* The place of the word in `words`; `absent` (if not negative) where the field is absent. */
static int word_field(const reading *r, const char *key, const char *const *words, int absent) {
  lua_State *L = r->L;
  int place = 0;
  if (lua_getfield(L, -1, key) == LUA_TNIL && absent >= 0) {
    lua_pop(L, 1);
    return absent;
  }
  const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  while (words[place] != NULL && strcmp(words[place], word) != 0)
    place++;
  if (words[place] == NULL) refuse(r, key, "one that is known");
  lua_pop(L, 1);
  return place;
}

/* A whole number up to 2^53 in the field `key` of the table on top of the stack. */
static size_t count_field(const reading *r, const char *key, size_t absent) {
  lua_State *L = r->L;
  int whole = 1;
  const bool none = lua_getfield(L, -1, key) == LUA_TNIL;
  const lua_Integer count = none ? (lua_Integer)absent : lua_tointegerx(L, -1, &whole);
  if (!whole || count < 0 || count > (lua_Integer)1 << 53) refuse(r, key, "a whole number");
  lua_pop(L, 1);
  return (size_t)count;
}

/* The finite number in place of missing ones; NaN where the field is absent, which refuses them. */
static double fill_field(const reading *r) {
  lua_State *L = r->L;
  int number = 1;
  const bool none = lua_getfield(L, -1, "fill") == LUA_TNIL;
  const double fill = none ? NAN : lua_tonumberx(L, -1, &number);
  if (!number || isinf(fill)) refuse(r, "fill", "a finite number");
  lua_pop(L, 1);
  return fill;
}

/* The list of texts under `key`; *count grows with it, so that what was copied is released. */
static void read_texts(const reading *r, const char *key, char ***list, size_t *count) {
  lua_State *L = r->L;
  const int type = lua_getfield(L, -1, key);
  if (type != LUA_TTABLE && type != LUA_TNIL) refuse(r, key, "a list of texts");
  const size_t length =
      type == LUA_TNIL ? 0 : scl_lua_copy_list(L, lua_gettop(L), SCL_LUA_MOST, key);
  *list = check_made(r, scl_allocate_zero((length + 1) * sizeof **list));
  for (; *count < length; ++*count) {
    lua_rawgeti(L, -1, (lua_Integer)*count + 1);
    (*list)[*count] = copy_text(r, key, "a list of texts");
  }
  lua_pop(L, 1);
}

/* The column in the table on top of the stack. Its texts belong to the schema at once. */
static void read_column(reading *r, scl_column *column) {
  column->fill = NAN;
  column->name = text_field(r, "name");
  column->kind = (scl_column_kind)word_field(r, "kind", kinds, -1);
  column->missing = count_field(r, "missing", 0);
  column->loose = scl_lua_field_flag(r->L, -1, "loose");
  column->order = (scl_date_order)word_field(r, "order", scl_date_order_names, 0);
  if (column->kind == SCL_COLUMN_NUMBER || column->kind == SCL_COLUMN_DATE)
    column->fill = fill_field(r);
  if (column->kind == SCL_COLUMN_CATEGORY)
    read_texts(r, "levels", &column->levels, &column->n_levels);
}

/* All columns. n_columns grows with them, so that an error releases those that were read. */
static void read_columns(reading *r, scl_schema *schema) {
  lua_State *L = r->L;
  if (lua_getfield(L, -1, "columns") != LUA_TTABLE) refuse(r, "columns", "a list");
  const int list = lua_gettop(L);
  const size_t count = scl_lua_copy_list(L, list, SCL_LUA_MOST, "columns");
  schema->columns = check_made(r, scl_allocate_zero((count + 1) * sizeof *schema->columns));
  for (size_t j = 0; j < count; j++) {
    schema->n_columns = j + 1;
    (void)snprintf(r->where, sizeof r->where, "a schema with a column %zu", j + 1);
    if (lua_rawgeti(L, list, (lua_Integer)j + 1) != LUA_TTABLE)
      refuse(r, "columns", "a list of tables");
    scl_lua_copy_table(L, lua_gettop(L), "columns");
    read_column(r, &schema->columns[j]);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* The target, where the schema has one. Its task follows from its kind where it is not said. */
static void read_target(reading *r, scl_schema *schema) {
  static const char *const tasks[] = {"regression", "classification", NULL};
  lua_State *L = r->L;
  (void)snprintf(r->where, sizeof r->where, "a schema with a target");
  const int type = lua_getfield(L, -1, "target");
  if (type != LUA_TNIL && type != LUA_TTABLE) refuse(r, "target", "a table");
  if (type == LUA_TTABLE) {
    scl_lua_copy_table(L, lua_gettop(L), "target");
    schema->target = text_field(r, "name");
    schema->target_is_category = word_field(r, "kind", kinds, -1) == SCL_COLUMN_CATEGORY;
    schema->classification = word_field(r, "task", tasks, schema->target_is_category) == 1;
    schema->target_place = count_field(r, "place", schema->n_columns + 1);
  }
  lua_pop(L, 1);
}

static void release_schema(void *schema) { scl_schema_destroy(schema); }

/* A handle owns the schema from the beginning, so that an error in any field releases what was
 * read. Unknown fields are ignored: later versions may write more. */
const scl_schema *scl_lua_check_schema(lua_State *L, int place, const char *title) {
  static const char *const categorical[] = {"onehot", "drop", NULL};
  reading r = {L, title, "a schema"};
  luaL_checkstack(L, 20, title);
  place = lua_absindex(L, place);
  if (!lua_istable(L, place))
    luaL_error(L, "%s: option 'like' takes a data set, a fitted pipeline or a schema", title);
  scl_schema *schema = scl_lua_new_owned(L, "scullery.schema", release_schema, sizeof *schema);
  lua_pushvalue(L, place);
  scl_lua_copy_table(L, lua_gettop(L), "like");
  if (lua_getfield(L, -1, "format") != LUA_TSTRING || strcmp(lua_tostring(L, -1), "csv") != 0)
    luaL_error(
        L,
        "%s: option 'like' has a schema that is not of a CSV file, so that columns have no names "
        "to go by",
        title);
  lua_pop(L, 1);
  read_columns(&r, schema);
  read_target(&r, schema);
  (void)snprintf(r.where, sizeof r.where, "a schema");
  read_texts(&r, "missing", &schema->missing, &schema->n_missing);
  for (size_t k = 0; k < SCL_COLUMN_ROLES; k++) {
    if (lua_getfield(L, -1, scl_column_role_names[k]) == LUA_TNIL)
      lua_pop(L, 1);
    else
      schema->roles[k] = copy_text(&r, scl_column_role_names[k], "a text");
  }
  schema->missing_values = (scl_missing)word_field(&r, "missing_values", rules, 0);
  schema->drop_categorical = word_field(&r, "categorical", categorical, 0) == 1;
  schema->header = scl_lua_field_flag(L, -1, "header");
  schema->by_place = scl_lua_field_flag(L, -1, "by_place");
  schema->time_in_dates = scl_lua_field_flag(L, -1, "time_in_dates");
  lua_getfield(L, -1, "separator");
  const char *separator = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  schema->separator = separator[0] == 0 ? ',' : separator[0];
  lua_pop(L, 2);
  return schema;
}
