#define _POSIX_C_SOURCE 200809L
/* scullery.core: readers and writers of data files. */
#include "data/csv.h"
#include "data/fetch.h"
#include "data/idx.h"
#include "data/libsvm.h"
#include "data/npy.h"
#include "handle.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- arguments: lists of texts, kept alive by Lua's stack */

/* The list at `place` (or one text) as a NULL-terminated array; the array is a userdata left on the stack. */
static const char **check_texts(lua_State *L, int place, size_t *count, const char *what) {
  const bool single = lua_type(L, place) == LUA_TSTRING;
  if (!single && lua_type(L, place) != LUA_TTABLE) luaL_error(L, "'%s' got %s; it takes a text or a list of texts", what, luaL_typename(L, place));
  *count = single ? 1 : (size_t)luaL_len(L, place);
  const char **list = lua_newuserdatauv(L, (*count + 1) * sizeof *list, 0);
  for (size_t i = 0; i < *count; i++) {
    if (single)
      lua_pushvalue(L, place);
    else
      lua_geti(L, place, (lua_Integer)i + 1);
    if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "'%s' got %s in its list; it takes texts", what, luaL_typename(L, -1));
    list[i] = lua_tostring(L, -1); /* the table or the stack keeps it */
    lua_pop(L, 1);
  }
  list[*count] = NULL;
  return list;
}

static const char *const *field_texts(lua_State *L, int place, const char *key) {
  size_t count;
  lua_getfield(L, place, key);
  if (lua_isnil(L, -1)) return NULL; /* the nil stays on the stack: the caller clears it */
  return check_texts(L, lua_gettop(L), &count, key);
}

static scl_choice field_choice(lua_State *L, int place, const char *key) {
  lua_getfield(L, place, key);
  const scl_choice choice = lua_isnil(L, -1) ? SCL_AUTO : lua_toboolean(L, -1) ? SCL_YES : SCL_NO;
  lua_pop(L, 1);
  return choice;
}

static const char *field_text(lua_State *L, int place, const char *key, const char *absent) {
  lua_getfield(L, place, key);
  const char *text = lua_isnil(L, -1) ? absent : luaL_checkstring(L, -1);
  lua_pop(L, 1); /* the table keeps it */
  return text;
}

static scl_dtype field_dtype(lua_State *L, int place) {
  lua_getfield(L, place, "dtype");
  const scl_dtype dtype = scl_lua_check_dtype(L, lua_gettop(L));
  lua_pop(L, 1);
  return dtype;
}

static scl_csv_options check_csv_options(lua_State *L, int place) {
  scl_csv_options o;
  scl_csv_defaults(&o);
  luaL_checktype(L, place, LUA_TTABLE);
  luaL_checkstack(L, 40, "options");
  lua_getfield(L, place, "target");
  if (lua_type(L, -1) == LUA_TSTRING)
    o.target = lua_tostring(L, -1);
  else if (lua_isboolean(L, -1))
    o.target_place = 0;
  else if (!lua_isnil(L, -1))
    o.target_place = (long)luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  const char *task = field_text(L, place, "task", NULL);
  if (task != NULL) o.classification = strcmp(task, "classification") == 0 ? SCL_YES : SCL_NO;
  o.header = field_choice(L, place, "header");
  o.drop_categorical = strcmp(field_text(L, place, "categorical", "onehot"), "drop") == 0;
  o.fill = strcmp(field_text(L, place, "fill", "median"), "error") == 0 ? SCL_MISSING_ERROR : SCL_MISSING_MEDIAN;
  const char *separator = field_text(L, place, "separator", "");
  o.separator = separator[0];
  o.dtype = field_dtype(L, place);
  const char *const *missing = field_texts(L, place, "missing");
  if (missing != NULL) o.missing = missing;
  o.skip = field_texts(L, place, "skip");
  o.levels = field_texts(L, place, "levels");
  o.names = field_texts(L, place, "columns");
  return o;
}

/* ---------------------------------------------------------------- results: a table that owns its scl_table until it is unpacked */

static void release_table(void *pointer) {
  scl_table_destroy(pointer);
  scl_release(pointer);
}

static scl_table *new_table(lua_State *L) {
  void **slot = scl_lua_new_handle(L, "scullery.table", release_table, 0);
  scl_table *table = scl_allocate_zero(sizeof *table);
  if (table == NULL) luaL_error(L, "not enough memory for a data set");
  *slot = table;
  return table;
}

static void give_matrix(lua_State *L, scl_matrix *from, const char *key) {
  if (from->storage == NULL) return;
  scl_matrix *out = scl_lua_new_matrix(L);
  *out = *from;
  memset(from, 0, sizeof *from);
  scl_lua_account(L, scl_matrix_bytes(out));
  lua_setfield(L, -2, key);
}

static void push_table(lua_State *L, scl_table *table) {
  lua_newtable(L);
  give_matrix(L, &table->x, "X");
  give_matrix(L, &table->y, "y");
  if (table->names != NULL) {
    lua_createtable(L, (int)table->cols, 0);
    for (size_t j = 0; j < table->cols; j++) {
      lua_pushstring(L, table->names[j]);
      lua_rawseti(L, -2, (lua_Integer)j + 1);
    }
    lua_setfield(L, -2, "names");
  }
  if (table->classification) {
    lua_createtable(L, (int)table->classes, 0);
    for (size_t k = 0; k < table->classes; k++) {
      if (table->class_names != NULL)
        lua_pushstring(L, table->class_names[k]);
      else
        lua_pushnumber(L, table->class_values[k]);
      lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_setfield(L, -2, "classes");
  }
  lua_pushstring(L, table->classification ? "classification" : "regression");
  lua_setfield(L, -2, "task");
  lua_createtable(L, (int)table->parts, 0);
  for (size_t k = 0; k < table->parts; k++) {
    lua_pushinteger(L, (lua_Integer)table->part_rows[k]);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
  lua_setfield(L, -2, "parts");
  lua_pushstring(L, table->target);
  lua_setfield(L, -2, "target");
}

/* core.read_csv(paths, options) -> {X, y, names, classes, task, parts, target} */
static int read_csv(lua_State *L) {
  size_t count;
  scl_error error = {0};
  const char **paths = check_texts(L, 1, &count, "path");
  if (count == 0) return luaL_error(L, "data.csv: no path was given");
  const scl_csv_options options = check_csv_options(L, 2);
  scl_table *table = new_table(L);
  scl_lua_check(L, scl_csv_read((const char *const *)paths, count, &options, table, &error), &error);
  push_table(L, table);
  return 1;
}

/* core.stream_csv(path, options) -> source, result */
static int stream_csv(lua_State *L) {
  scl_error error = {0};
  scl_source *source;
  const char *path = luaL_checkstring(L, 1);
  const scl_csv_options options = check_csv_options(L, 2);
  scl_table *table = new_table(L);
  scl_lua_check(L, scl_csv_stream(path, &options, table, &source, &error), &error);
  scl_lua_push_source(L, source);
  lua_pushvalue(L, 2); /* the words for a missing value lie in the options */
  lua_setiuservalue(L, -2, 1);
  push_table(L, table);
  lua_pushinteger(L, (lua_Integer)table->rows);
  lua_setfield(L, -2, "rows");
  lua_pushinteger(L, (lua_Integer)table->cols);
  lua_setfield(L, -2, "cols");
  return 2;
}

/* core.read_libsvm(paths, {features =, task =, dtype =}) */
static int read_libsvm(lua_State *L) {
  size_t count;
  scl_error error = {0};
  const char **paths = check_texts(L, 1, &count, "path");
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_getfield(L, 2, "features");
  const size_t features = lua_isnil(L, -1) ? 0 : scl_lua_check_size(L, lua_gettop(L), 1, INT32_MAX, "features");
  const char *task = field_text(L, 2, "task", NULL);
  const int classification = task == NULL ? -1 : strcmp(task, "classification") == 0;
  const scl_dtype dtype = field_dtype(L, 2);
  scl_table *table = new_table(L);
  scl_lua_check(L, scl_libsvm_read((const char *const *)paths, count, features, classification, dtype, table, &error), &error);
  push_table(L, table);
  return 1;
}

/* core.read_idx(images, labels or nil, {scale =, dtype =}) */
static int read_idx(lua_State *L) {
  size_t count, labelled = 0;
  scl_error error = {0};
  luaL_checktype(L, 3, LUA_TTABLE);
  const char **images = check_texts(L, 1, &count, "images"), **labels = lua_isnil(L, 2) ? NULL : check_texts(L, 2, &labelled, "labels");
  if (count == 0) return luaL_error(L, "data.idx: no path was given");
  if (labels != NULL && labelled != count) return luaL_error(L, "data.idx: %d files of images and %d of labels", (int)count, (int)labelled);
  lua_getfield(L, 3, "scale");
  const double scale = luaL_optnumber(L, -1, 1);
  const scl_dtype dtype = field_dtype(L, 3);
  scl_table *table = new_table(L);
  scl_lua_check(L, scl_idx_read((const char *const *)images, (const char *const *)labels, count, scale, dtype, table, &error), &error);
  push_table(L, table);
  return 1;
}

static int read_npy(lua_State *L) {
  scl_error error = {0};
  const char *path = luaL_checkstring(L, 1);
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_npy_read(path, out, &error), &error);
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

static int write_npy(lua_State *L) {
  scl_error error = {0};
  scl_lua_check(L, scl_npy_write(scl_lua_check_matrix(L, 1), luaL_checkstring(L, 2), &error), &error);
  return 0;
}

static int stream_npy(lua_State *L) {
  scl_error error = {0};
  scl_source *source;
  scl_lua_check(L, scl_npy_stream(luaL_checkstring(L, 1), luaL_optstring(L, 2, NULL), &source, &error), &error);
  scl_lua_push_source(L, source);
  return 1;
}

/* ---------------------------------------------------------------- labels */

/* core.code_targets(y, classes) -> n x 1 of -1 (first class) and +1, or n x c one against all */
static int code_targets(lua_State *L) {
  const scl_matrix *y = scl_lua_check_matrix(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const size_t c = (size_t)luaL_len(L, 2);
  if (y->cols != 1) return luaL_error(L, "labels come as one column, and these are %d", (int)y->cols);
  double *values = lua_newuserdatauv(L, (c + 1) * sizeof *values, 0);
  for (size_t k = 0; k < c; k++) {
    lua_rawgeti(L, 2, (lua_Integer)k + 1);
    values[k] = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : (double)k + 1;
    lua_pop(L, 1);
  }
  scl_error error = {0};
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_matrix_create_raw(y->rows, c == 2 ? 1 : c, SCL_F64, out, &error), &error);
  for (size_t i = 0; i < y->rows; i++) {
    const double label = scl_matrix_get(y, i, 0);
    size_t k = 0;
    while (k < c && values[k] != label) k++;
    if (k == c) return luaL_error(L, "row %d has the label %f, which is none of the %d classes", (int)i + 1, label, (int)c);
    double *row = scl_matrix_row(out, i);
    if (c == 2)
      row[0] = k == 1 ? 1 : -1;
    else
      for (size_t j = 0; j < c; j++) row[j] = j == k ? 1 : -1;
  }
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

/* core.labels_of(decisions, classes) -> n x 1: the label of each row (numbers themselves, or places of text labels) */
static int labels_of(lua_State *L) {
  const scl_matrix *d = scl_lua_check_matrix(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const size_t c = (size_t)luaL_len(L, 2);
  if (d->cols != (c == 2 ? 1 : c)) return luaL_error(L, "%d decisions a row for %d classes", (int)d->cols, (int)c);
  scl_error error = {0};
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_matrix_create_raw(d->rows, 1, SCL_F64, out, &error), &error);
  for (size_t i = 0; i < d->rows; i++) {
    size_t best = 0;
    if (c == 2) best = scl_matrix_get(d, i, 0) >= 0;
    for (size_t j = 1; c != 2 && j < c; j++)
      if (scl_matrix_get(d, i, j) > scl_matrix_get(d, i, best)) best = j;
    lua_rawgeti(L, 2, (lua_Integer)best + 1);
    scl_matrix_set(out, i, 0, lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : (double)best + 1);
    lua_pop(L, 1);
  }
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

/* ---------------------------------------------------------------- fetching */

/* core.fetch(url, path, sha256 or nil) */
static int fetch(lua_State *L) {
  scl_error error = {0};
  scl_lua_check(L, scl_fetch(luaL_checkstring(L, 1), luaL_checkstring(L, 2), luaL_optstring(L, 3, NULL), &error), &error);
  return 0;
}

/* core.sha256(path) -> hexadecimal digest of the file */
static int sha256(lua_State *L) {
  char digest[65];
  scl_error error = {0};
  scl_lua_check(L, scl_sha256_file(luaL_checkstring(L, 1), digest, &error), &error);
  lua_pushstring(L, digest);
  return 1;
}

/* core.make_folder(path): nothing when it is there already */
static int make_folder(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  if (mkdir(path, 0777) != 0 && errno != EEXIST) return luaL_error(L, "%s: the folder cannot be made: %s", path, strerror(errno));
  return 0;
}

void scl_lua_open_data(lua_State *L) {
  static const luaL_Reg functions[] = {{"read_csv", read_csv},         {"stream_csv", stream_csv}, {"read_libsvm", read_libsvm},
                                       {"read_idx", read_idx},         {"read_npy", read_npy},     {"write_npy", write_npy},
                                       {"stream_npy", stream_npy},     {"labels_of", labels_of},   {"fetch", fetch},
                                       {"code_targets", code_targets}, {"sha256", sha256},         {"make_folder", make_folder}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
