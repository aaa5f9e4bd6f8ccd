/* scullery.core: readers and writers of data files. Every sentence begins with the title of the
 * user's function ("data.csv: "). */
#include "data/csv.h"
#include "data/csv_write.h"
#include "data/fetch.h"
#include "data/idx.h"
#include "data/libsvm.h"
#include "data/npy.h"
#include "lua/data_options.h"
#include "lua/handle.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static void check(lua_State *L, const char *title, scl_status status, scl_error *error) {
  if (status == SCL_STATUS_OK) return;
  (void)scl_prefix(error, "%s", title);
  scl_lua_raise(L, error);
}

/* ---------------------------------------------------------------- results: a handle owns the
 * scl_table until it is unpacked */

static void release_table(void *pointer) {
  scl_table_destroy(pointer);
  scl_release(pointer);
}

static scl_table *new_table(lua_State *L, const char *title) {
  void **slot = scl_lua_new_handle(L, "scullery.table", release_table, 0);
  scl_table *table = scl_allocate_zero(sizeof *table);
  if (table == NULL) luaL_error(L, "%s: not enough memory for a data set", title);
  *slot = table;
  return table;
}

static void release_source(void *source) {
  scl_source_destroy(source);
}

/* A source's handle on the stack, made before there is a source, so that nothing is lost on an
 * error. */
static void **new_source(lua_State *L) {
  return scl_lua_new_handle(L, SCL_LUA_SOURCE, release_source, 1);
}

static void give_matrix(lua_State *L, scl_matrix *from, const char *key) {
  if (from->storage == NULL) return;
  scl_matrix *out = scl_lua_new_matrix(L);
  *out = *from;
  memset(from, 0, sizeof *from);
  scl_lua_account(L, scl_matrix_bytes(out));
  lua_setfield(L, -2, key);
}

static void push_names(lua_State *L, const scl_table *table) {
  lua_createtable(L, (int)scl_min(table->cols, INT32_MAX), 0);
  for (size_t j = 0; j < table->cols; j++) {
    if (table->names != NULL)
      lua_pushstring(L, table->names[j]);
    else
      lua_pushfstring(L, "%s%I", table->name_prefix, (LUAI_UACINT)j + 1);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
}

static void push_classes(lua_State *L, const scl_table *table) {
  lua_createtable(L, (int)table->classes, 0);
  for (size_t k = 0; k < table->classes; k++) {
    if (table->class_names != NULL)
      lua_pushstring(L, table->class_names[k]);
    else if (table->class_values[k] == floor(table->class_values[k]) &&
             fabs(table->class_values[k]) < 1e15)
      lua_pushinteger(L, (lua_Integer)table->class_values[k]);
    else
      lua_pushnumber(L, table->class_values[k]);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
}

/* {X, y, names, classes, task, parts, target} on the stack; the table is empty afterwards. */
static void push_table(lua_State *L, scl_table *table) {
  lua_newtable(L);
  give_matrix(L, &table->x, "X");
  give_matrix(L, &table->y, "y");
  push_names(L, table);
  lua_setfield(L, -2, "names");
  if (table->classification) {
    push_classes(L, table);
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
  lua_pushstring(L, table->target); /* nil where there is none */
  lua_setfield(L, -2, "target");
}

/* ---------------------------------------------------------------- text */

/* core.read_csv(paths, options) -> {X =, y =, names =, classes =, task =, parts =, target =}.
 * paths: a text or a list of them, stacked, with one schema. Options: see
 * scl_lua_check_csv_options. */
static int read_csv(lua_State *L) {
  static const char title[] = "data.csv";
  size_t count;
  scl_error error = {0};
  luaL_checkstack(L, 40, title);
  lua_settop(L, 2);
  const char *const *paths = scl_lua_check_texts(L, 1, title, "path", &count);
  const scl_csv_options options = scl_lua_check_csv_options(L, 2, title, NULL);
  if (count == 0) return luaL_error(L, "%s: the list of paths is empty", title);
  scl_table *table = new_table(L, title);
  check(L, title, scl_csv_read(paths, count, &options, table, &error), &error);
  push_table(L, table);
  scl_table_destroy(table);
  return 1;
}

/* core.stream_csv(path, options) -> source, the same without X and y, with rows and cols */
static int stream_csv(lua_State *L) {
  static const char title[] = "data.csv";
  scl_error error = {0};
  size_t count;
  int words;
  luaL_checkstack(L, 40, title);
  lua_settop(L, 2);
  const char *const *paths = scl_lua_check_texts(L, 1, title, "path", &count);
  if (count != 1)
    return luaL_error(L, "%s: a stream takes one path, and got %I", title, (LUAI_UACINT)count);
  const scl_csv_options options = scl_lua_check_csv_options(L, 2, title, &words);
  scl_table *table = new_table(L, title);
  void **slot = new_source(L);
  scl_source *source = NULL;
  check(L, title, scl_csv_stream(paths[0], &options, table, &source, &error), &error);
  *slot = source;
  if (words != 0) { /* the words for a missing value must live as long as the source */
    lua_pushvalue(L, words);
    lua_setiuservalue(L, -2, 1);
  }
  push_table(L, table);
  lua_pushinteger(L, (lua_Integer)table->rows);
  lua_setfield(L, -2, "rows");
  lua_pushinteger(L, (lua_Integer)table->cols);
  lua_setfield(L, -2, "cols");
  scl_table_destroy(table);
  return 2;
}

/* core.write_csv(matrix, names or nil, path) */
static int write_csv(lua_State *L) {
  static const char title[] = "write_csv";
  scl_error error = {0};
  size_t count = 0;
  const scl_matrix *a = scl_lua_check_matrix(L, 1);
  const char *const *names =
      lua_isnoneornil(L, 2) ? NULL : scl_lua_check_texts(L, 2, title, "names", &count);
  if (names != NULL && count != a->cols)
    return luaL_error(L, "%s: %I names, and the matrix has %I columns", title, (LUAI_UACINT)count,
                      (LUAI_UACINT)a->cols);
  check(L, title, scl_csv_write(a, names, luaL_checkstring(L, 3), &error), &error);
  return 0;
}

/* core.read_libsvm(paths, {features =, task =, dtype =}) -> the same fields as read_csv */
static int read_libsvm(lua_State *L) {
  static const char title[] = "data.libsvm";
  static const char *const known[] = {"dtype", "features", "task", NULL};
  size_t count;
  scl_error error = {0};
  luaL_checkstack(L, 20, title);
  lua_settop(L, 2);
  const char *const *paths = scl_lua_check_texts(L, 1, title, "path", &count);
  scl_lua_check_keys(L, 2, title, known);
  if (count == 0) return luaL_error(L, "%s: the list of paths is empty", title);
  const size_t features =
      (size_t)scl_lua_option_number(L, 2, title, "features", 0, 1, INT32_MAX, true);
  const int classification =
      scl_lua_option_word(L, 2, title, "task", "regression|classification", -1);
  const scl_dtype dtype = scl_lua_option_word(L, 2, title, "dtype", "float64|float32", 0) == 1
                              ? SCL_DTYPE_FLOAT32
                              : SCL_DTYPE_FLOAT64;
  scl_table *table = new_table(L, title);
  check(L, title, scl_libsvm_read(paths, count, features, classification, dtype, table, &error),
        &error);
  push_table(L, table);
  scl_table_destroy(table);
  return 1;
}

/* ---------------------------------------------------------------- arrays */

/* core.read_idx(images, labels or nil, {scale =, dtype =}) -> the same fields as read_csv; images
 * and labels: a text or a list of them */
static int read_idx(lua_State *L) {
  static const char title[] = "data.idx";
  static const char *const known[] = {"dtype", "scale", NULL};
  size_t count, labelled = 0;
  scl_error error = {0};
  luaL_checkstack(L, 20, title);
  lua_settop(L, 3);
  const char *const *images = scl_lua_check_texts(L, 1, title, "images", &count);
  const char *const *labels =
      lua_isnil(L, 2) ? NULL : scl_lua_check_texts(L, 2, title, "labels", &labelled);
  scl_lua_check_keys(L, 3, title, known);
  if (count == 0) return luaL_error(L, "%s: the list of images is empty", title);
  if (labels != NULL && labelled != count)
    return luaL_error(L, "%s: %d files of images and %d of labels", title, (int)count,
                      (int)labelled);
  const double scale = scl_lua_option_number(L, 3, title, "scale", 1, -HUGE_VAL, HUGE_VAL, false);
  const scl_dtype dtype = scl_lua_option_word(L, 3, title, "dtype", "float64|float32", 0) == 1
                              ? SCL_DTYPE_FLOAT32
                              : SCL_DTYPE_FLOAT64;
  scl_table *table = new_table(L, title);
  check(L, title, scl_idx_read(images, labels, count, scale, dtype, table, &error), &error);
  push_table(L, table);
  scl_table_destroy(table);
  return 1;
}

/* core.read_npy(path) -> matrix */
static int read_npy(lua_State *L) {
  scl_error error = {0};
  const char *path = luaL_checkstring(L, 1);
  scl_matrix *out = scl_lua_new_matrix(L);
  check(L, "data.npy", scl_npy_read(path, out, &error), &error);
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

/* core.write_npy(matrix, path) */
static int write_npy(lua_State *L) {
  scl_error error = {0};
  scl_lua_check(L, scl_npy_write(scl_lua_check_matrix(L, 1), luaL_checkstring(L, 2), &error),
                &error);
  return 0;
}

/* core.stream_npy(path of X, path of y or nil) -> source */
static int stream_npy(lua_State *L) {
  scl_error error = {0};
  const char *x_path = luaL_checkstring(L, 1), *y_path = luaL_optstring(L, 2, NULL);
  void **slot = new_source(L);
  scl_source *source = NULL;
  check(L, "data.npy", scl_npy_stream(x_path, y_path, &source, &error), &error);
  *slot = source;
  return 1;
}

/* ---------------------------------------------------------------- labels */

/* core.code_targets(y, classes) -> n x 1 of -1 (first class) and +1, or n x c one against all */
static int code_targets(lua_State *L) {
  const scl_matrix *y = scl_lua_check_matrix(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const size_t c = (size_t)luaL_len(L, 2);
  if (y->cols != 1)
    return luaL_error(L, "labels come as one column, and these are %d", (int)y->cols);
  double *values = lua_newuserdatauv(L, (c + 1) * sizeof *values, 0);
  for (size_t k = 0; k < c; k++) {
    lua_rawgeti(L, 2, (lua_Integer)k + 1);
    values[k] = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : (double)k + 1;
    lua_pop(L, 1);
  }
  scl_error error = {0};
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_matrix_create_raw(y->rows, c == 2 ? 1 : c, SCL_DTYPE_FLOAT64, out, &error),
                &error);
  for (size_t i = 0; i < y->rows; i++) {
    const double label = scl_matrix_get(y, i, 0);
    size_t k = 0;
    while (k < c && values[k] != label)
      k++;
    if (k == c)
      return luaL_error(L, "row %d has the label %f, which is none of the %d classes", (int)i + 1,
                        label, (int)c);
    double *row = scl_matrix_row(out, i);
    if (c == 2)
      row[0] = k == 1 ? 1 : -1;
    else
      for (size_t j = 0; j < c; j++)
        row[j] = j == k ? 1 : -1;
  }
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

/* core.labels_of(decisions, classes) -> n x 1: the label of each row (numbers themselves, or places
 * of text labels) */
static int labels_of(lua_State *L) {
  const scl_matrix *d = scl_lua_check_matrix(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const size_t c = (size_t)luaL_len(L, 2);
  if (d->cols != (c == 2 ? 1 : c))
    return luaL_error(L, "%d decisions a row for %d classes", (int)d->cols, (int)c);
  scl_error error = {0};
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_matrix_create_raw(d->rows, 1, SCL_DTYPE_FLOAT64, out, &error), &error);
  for (size_t i = 0; i < d->rows; i++) {
    size_t best = 0;
    if (c == 2) best = scl_matrix_get(d, i, 0) >= 0;
    for (size_t j = 1; c != 2 && j < c; j++)
      if (scl_matrix_get(d, i, j) > scl_matrix_get(d, i, best)) best = j;
    lua_rawgeti(L, 2, (lua_Integer)best + 1);
    scl_matrix_set(out, i, 0,
                   lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : (double)best + 1);
    lua_pop(L, 1);
  }
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

/* ---------------------------------------------------------------- fetching */

/* core.fetch(url, path, sha256 or nil) */
static int fetch(lua_State *L) {
  scl_error error = {0};
  scl_lua_check(
      L,
      scl_fetch(luaL_checkstring(L, 1), luaL_checkstring(L, 2), luaL_optstring(L, 3, NULL), &error),
      &error);
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
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return luaL_error(L, "%s: the folder cannot be made: %s", path, strerror(errno));
  return 0;
}

void scl_lua_open_data(lua_State *L) {
  static const luaL_Reg functions[] = {{"read_csv", read_csv},         {"stream_csv", stream_csv},
                                       {"read_libsvm", read_libsvm},   {"read_idx", read_idx},
                                       {"read_npy", read_npy},         {"write_npy", write_npy},
                                       {"write_csv", write_csv},       {"stream_npy", stream_npy},
                                       {"labels_of", labels_of},       {"fetch", fetch},
                                       {"code_targets", code_targets}, {"sha256", sha256},
                                       {"make_folder", make_folder},   {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
