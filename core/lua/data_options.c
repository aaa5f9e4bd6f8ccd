/* Options of the readers: declared rows for the validator, and values that only a reader can check
 * (names of columns, the target, schemas). The rows also feed help and completion. */
#include "lua/data_options.h"
#include "lua/list.h"
#include "lua/schema.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------ lists of texts */

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

/* ------------------------------------------------------------ declared options */

#define TEXTS "a text or a list of texts"
#define FLAG(option, text)                                                                         \
  { .name = option, .help = text, .forms = SCL_FORM_BOOLEAN }
#define WORD(option, choices, preset, text)                                                        \
  { .name = option, .help = text, .words = choices, .fallback = preset, .forms = SCL_FORM_WORD }
#define OPAQUE(option, takes, text)                                                                \
  { .name = option, .help = text, .words = takes, .forms = SCL_FORM_OPAQUE }
#define DTYPE WORD("dtype", "float64|float32", "float64", "type of the numbers")
#define UNPACKED                                                                                   \
  {                                                                                                \
    .name = "unpacked",                                                                            \
    .help = "most bytes that a gzip file may unpack to in memory; default: 200 times the size of " \
            "the file, at least 128 MiB",                                                          \
    .forms = SCL_FORM_INTEGER, .range = SCL_RANGE_HIGH_OPEN, .low = 1, .high = INFINITY            \
  }
#define TASK                                                                                       \
  WORD("task", "regression|classification", NULL,                                                  \
       "what the target is; default: classification where it is text, two numbers, or few whole "  \
       "numbers named class, label or target")

/* A table of options that is being read: its place, the title for sentences, the declared rows and
 * the checked values. */
typedef struct option_table {
  lua_State *L;
  int place;
  const char *title;
  const scl_option *rows;
  scl_settings settings;
} option_table;

/* The table at `place`, of a list of rows that is an array. */
#define OPEN_OPTIONS(L, place, title, rows)                                                        \
  open_options(L, place, title, rows, sizeof(rows) / sizeof *(rows))

/* Check the table at `place` (nil or nothing: an empty one takes its place) against the declared
 * rows. The caller ends `settings`, before anything that may raise. */
static option_table open_options(lua_State *L, int place, const char *title, const scl_option *rows,
                                 size_t count) {
  option_table t = {L, place, title, rows, {0}};
  if (lua_isnoneornil(L, place)) {
    lua_newtable(L);
    lua_replace(L, place);
  }
  t.settings = scl_lua_check_settings(L, place, title, rows, count);
  return t;
}

/* The place of an option among the declared rows. The name is one of them. */
static size_t place_of(const option_table *t, const char *name) {
  size_t i = 0;
  while (strcmp(t->rows[i].name, name) != 0)
    i++;
  return i;
}

static const scl_value *value_of(const option_table *t, const char *name) {
  return &t->settings.values[place_of(t, name)];
}

/* The place of a word, `absent` where it was not given. */
static int word_of(const option_table *t, const char *name, int absent) {
  const scl_value *value = value_of(t, name);
  return value->form == 0 ? absent : value->place;
}

static scl_choice flag_of(const option_table *t, const char *name) {
  const scl_value *value = value_of(t, name);
  return value->form == 0 ? SCL_AUTO : value->number != 0 ? SCL_YES : SCL_NO;
}

static scl_dtype dtype_of(const option_table *t) {
  return word_of(t, "dtype", 0) == 1 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64;
}

/* In bytes; 0 where it was not given. */
static size_t unpacked_of(const option_table *t) {
  const double bytes = value_of(t, "unpacked")->number;
  return bytes < 0x1p62 ? (size_t)bytes : (size_t)1 << 62;
}

/* Raise: the option does not take the value on top of the stack. For values that the validator
 * cannot check; the sentence is made by the validator, as for all others. */
static void refuse_value(option_table *t, const char *name) {
  const scl_value value = {.form = SCL_FORM_OPAQUE, .place = -1, .word = scl_lua_shown(t->L, -1)};
  scl_settings_destroy(&t->settings);
  SCL_LUA_TRY(t->L, scl_settings_create(t->title, &t->rows[place_of(t, name)], 1,
                                        &(scl_given){.name = name, .value = value}, 1, &t->settings,
                                        &error));
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

/* ------------------------------------------------------------ options of a CSV file */

/* The rows are sorted by name. Rows whose form is opaque are read by the functions below. */
static const scl_option csv_rows[] = {
    WORD("categorical", "onehot|drop", "onehot",
         "what becomes of columns of text: one column a level, or none"),
    OPAQUE("columns", TEXTS, "names, where the file has none or others are wanted"),
    WORD("dates", "day|month", NULL,
         "what comes first in dates such as 03/04/2024; default: found where a date says it, as "
         "31/12/2024 does"),
    OPAQUE("derive", "a table of names with expressions or functions",
           "computed columns, such as { ratio = \"a / b\", hour = \"hour(when)\", lag1 = "
           "\"lag(y, 1)\" }"),
    DTYPE,
    WORD("fill", "median|error|row", NULL, "another name for missing_values"),
    OPAQUE("groups", "a column's name",
           "rows with the same value stay together: splits and folds keep each group on one side"),
    FLAG("header", "whether the first line holds names; default: found"),
    OPAQUE("levels", TEXTS,
           "columns to take as categories whatever they hold, nearly unique text among them"),
    OPAQUE("like", "a data set, a fitted pipeline or a schema",
           "columns by name, and encoded, as there: other order, other categories and extra "
           "columns do no harm"),
    OPAQUE("missing", TEXTS,
           "texts that mean a missing value, beside an empty field; default \"?\", \"NA\", "
           "\"N/A\", \"NaN\", \"null\", \"None\", \"#N/A\" and the like"),
    WORD("missing_values", "median|error|row", NULL,
         "what a missing number becomes: the median of its column in the first file (of a "
         "stream: the mean), an error, or the row is left out"),
    OPAQUE("numeric", "true, or a list of columns that must hold numbers",
           "columns that must hold numbers, $1,000.50 and 5% among them; true: all but the target"),
    FLAG("quiet", "no line on the standard error about what was guessed and done"),
    OPAQUE("separator", "one character: a comma, semicolon, tab, bar or the like",
           "default: comma, semicolon or tab, found from the first lines"),
    OPAQUE("skip", TEXTS, "columns to leave out"),
    FLAG("sparse", "keep the numbers that are not 0 alone; default: where there are more than 1000 "
                   "columns and a row fills less than 10 % of them"),
    FLAG("stream", "read block by block from disk, in flat memory"),
    OPAQUE("target",
           "a column's name, its number (from 1, negative from the end), or false for none",
           "the column of targets; default: the last (with like: the one of that name, if it is "
           "there)"),
    TASK,
    OPAQUE("text", TEXTS, "columns whose texts are the rows, for sc.text: see docs/text.md"),
    OPAQUE("time", "a column's name",
           "the time of each row, numbers or dates: for folds = \"time\""),
    UNPACKED,
    OPAQUE("weights", "a column's name", "the weight of each row in learning")};

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
  option_table t = OPEN_OPTIONS(L, place, title, csv_rows);
  o.classification = (scl_choice)word_of(&t, "task", SCL_AUTO);
  o.header = flag_of(&t, "header");
  o.sparse = flag_of(&t, "sparse");
  o.drop_categorical = word_of(&t, "categorical", 0) == 1;
  const int fill = word_of(&t, "missing_values", word_of(&t, "fill", -1));
  o.dtype = dtype_of(&t);
  o.dates = word_of(&t, "dates", -1) + 1;
  o.unpacked = unpacked_of(&t);
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

/* ------------------------------------------------------------ options of the other readers */

static const scl_option libsvm_rows[] = {
    {.name = "base",
     .help = "what indices count from: 1, or 0",
     .fallback = "1",
     .forms = SCL_FORM_INTEGER,
     SCL_WITHIN(0, 1)},
    DTYPE,
    {.name = "features",
     .help = "the number of columns; default: the largest index",
     .forms = SCL_FORM_INTEGER,
     SCL_WITHIN(1, INT32_MAX)},
    FLAG("sparse", "keep the numbers that are not 0 alone; default: where less than 10 % are"),
    FLAG("stream", "read the files from disk in each pass"),
    TASK,
    UNPACKED};

scl_libsvm_options scl_lua_check_libsvm_options(lua_State *L, int place, const char *title) {
  option_table t = OPEN_OPTIONS(L, place, title, libsvm_rows);
  const scl_libsvm_options o = {.features = (size_t)value_of(&t, "features")->number,
                                .from_zero = value_of(&t, "base")->number == 0,
                                .classification = (scl_choice)word_of(&t, "task", SCL_AUTO),
                                .sparse = flag_of(&t, "sparse"),
                                .dtype = dtype_of(&t),
                                .unpacked = unpacked_of(&t)};
  scl_settings_destroy(&t.settings);
  return o;
}

static const scl_option matrix_market_rows[] = {
    DTYPE,
    FLAG("sparse", "keep the numbers that are not 0 alone; default: where less than 10 % are"),
    UNPACKED};

scl_matrix_market_options scl_lua_check_matrix_market_options(lua_State *L, int place,
                                                              const char *title) {
  option_table t = OPEN_OPTIONS(L, place, title, matrix_market_rows);
  const scl_matrix_market_options o = {flag_of(&t, "sparse"), dtype_of(&t), unpacked_of(&t)};
  scl_settings_destroy(&t.settings);
  return o;
}

static const scl_option idx_rows[] = {DTYPE,
                                      {.name = "scale",
                                       .help = "pixels are multiplied by it",
                                       .fallback = "1",
                                       .forms = SCL_FORM_NUMBER},
                                      FLAG("stream", "read the images from disk in each pass"),
                                      UNPACKED};

scl_idx_options scl_lua_check_idx_options(lua_State *L, int place, const char *title) {
  option_table t = OPEN_OPTIONS(L, place, title, idx_rows);
  const scl_idx_options o = {value_of(&t, "scale")->number, dtype_of(&t), unpacked_of(&t)};
  scl_settings_destroy(&t.settings);
  return o;
}

/* ------------------------------------------------------------ for help and completion */

/* core.reader_options(reader) -> list of {name, takes, default, help, words}; nil: no such
 * reader */
static int reader_options(lua_State *L) {
  static const struct {
    const char *reader;
    const scl_option *rows;
    size_t count;
  } tables[] = {
      {"csv", csv_rows, sizeof csv_rows / sizeof *csv_rows},
      {"libsvm", libsvm_rows, sizeof libsvm_rows / sizeof *libsvm_rows},
      {"matrix_market", matrix_market_rows, sizeof matrix_market_rows / sizeof *matrix_market_rows},
      {"idx", idx_rows, sizeof idx_rows / sizeof *idx_rows}};
  const char *reader = luaL_checkstring(L, 1);
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
    if (strcmp(tables[k].reader, reader) != 0) continue;
    lua_createtable(L, (int)tables[k].count, 0);
    for (size_t i = 0; i < tables[k].count; i++) {
      scl_lua_push_option(L, &tables[k].rows[i]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
  }
  return 0;
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

void scl_lua_open_data_options(lua_State *L) {
  SCL_LUA_FUNCTIONS(L, {"reader_options", reader_options}, {"csv_missing", csv_missing});
}
