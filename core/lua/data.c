/* scullery.core: readers and writers of data files, and what goes with them: downloads, digests,
 * folders. lua/scullery/data makes data sets of the tables that the readers return.
 *
 * Every sentence begins with the title of the user's function ("data.csv: "), because Lua code
 * passes the user's options through unchanged: they are checked here alone. */
#include "base/profile.h"
#include "data/csv/csv.h"
#include "data/csv/write.h"
#include "data/files/fetch.h"
#include "data/idx.h"
#include "data/libsvm.h"
#include "data/npy.h"
#include "data/npz.h"
#include "lua/data_options.h"
#include "lua/handle.h"
#include "lua/schema.h"
#include "lua/sparse.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* The same for a call that reads rows: its time, and the number of rows afterwards, are entered in
 * the profile. */
#define CHECK_READING(L, title, call, rows, passes) \
  do { \
    const size_t mark = scl_profile_enter("reading"); \
    const scl_status status = call; \
    scl_profile_leave(mark, status == SCL_STATUS_OK ? (double)(rows) : 0, passes); \
    scl_lua_check_titled(L, title, status, &error); \
  } while (0)

/* ------------ results: a handle owns the scl_table until it is unpacked */

static void release_table(void *pointer) {
  scl_table_destroy(pointer);
  scl_release(pointer);
}

static scl_table *new_table(lua_State *L) {
  return scl_lua_new_owned(L, "scullery.table", release_table, sizeof(scl_table));
}

/* The list of column names. Columns without names get the prefix of the format and their number. A
 * wide file has millions of them, so Ctrl-C is checked once in a while. */
static void push_names(lua_State *L, const scl_table *table) {
  enum { A_LOOK = 1 << 16 };
  lua_createtable(L, (int)scl_min(table->cols, INT32_MAX), 0);
  for (size_t j = 0; j < table->cols; j++) {
    if (j % A_LOOK == A_LOOK - 1) scl_lua_check_interrupt(L);
    if (table->names != NULL)
      lua_pushstring(L, table->names[j]);
    else
      lua_pushfstring(L, "%s%I", table->name_prefix, (LUAI_UACINT)j + 1);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
}

/* The list of class labels: texts, or the numbers of the file, as integers where they are whole. */
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

/* {X, y, cols, names, classes, task, parts, alike, target, schema, notes} on the stack; sparse rows
 * without names have none. The table is empty afterwards. */
static void push_table(lua_State *L, scl_table *table, bool nameless) {
  lua_newtable(L);
  if (table->x.storage != NULL) scl_lua_set_matrix(L, "X", &table->x);
  if (table->csr.storage != NULL) scl_lua_set_csr(L, "X", &table->csr);
  if (table->y.storage != NULL) scl_lua_set_matrix(L, "y", &table->y);
  scl_lua_set_integer(L, "cols", table->cols);
  if (!nameless) {
    push_names(L, table);
    lua_setfield(L, -2, "names");
  }
  if (table->classification) {
    push_classes(L, table);
    lua_setfield(L, -2, "classes");
  }
  scl_lua_set_text(L, "task", table->classification ? "classification" : "regression");
  scl_lua_push_sizes(L, table->part_rows, table->parts, 0);
  lua_setfield(L, -2, "parts");
  if (table->alike) scl_lua_set_integer(L, "alike", 1);
  if (table->whole_values > 0) scl_lua_set_integer(L, "whole_values", table->whole_values);
  lua_pushstring(L, table->target); /* NULL: nil */
  lua_setfield(L, -2, "target");
  if (table->schema == NULL) return;
  scl_lua_push_schema(L, table->schema);
  lua_setfield(L, -2, "schema");
  scl_lua_push_notes(L, table->notes, table->n_notes);
  lua_setfield(L, -2, "notes");
}

/* The table of a reader as its result. */
static int give_table(lua_State *L, scl_table *table) {
  push_table(L, table, table->csr.storage != NULL && table->names == NULL);
  scl_table_destroy(table);
  return 1;
}

/* ------------ text */

/* core.read_csv(paths, options) -> {X =, y =, names =, classes =, task =, parts =, target =, schema
 * =, notes =}; see lua/schema.h for the last two. paths: a text or a list of them, stacked, with
 * one schema. Options: see scl_lua_check_csv_options. */
static int read_csv(lua_State *L) {
  static const char title[] = "data.csv";
  size_t count;
  scl_error error = {0};
  luaL_checkstack(L, 40, title);
  const char *const *paths = scl_lua_check_texts(L, 1, title, "path", &count);
  const scl_csv_options options = scl_lua_check_csv_options(L, 2, title, NULL);
  if (count == 0) return luaL_error(L, "%s: the list of paths is empty", title);
  scl_table *table = new_table(L);
  CHECK_READING(L, title, scl_csv_read(paths, count, &options, table, &error), table->rows, 1);
  return give_table(L, table);
}

/* core.stream_csv(path, options) -> source, the same without X and y, with rows and cols */
static int stream_csv(lua_State *L) {
  static const char title[] = "data.csv";
  scl_error error = {0};
  size_t count;
  int kept;
  luaL_checkstack(L, 40, title);
  const char *const *paths = scl_lua_check_texts(L, 1, title, "path", &count);
  if (count != 1)
    return luaL_error(L, "%s: a stream takes one path, and got %I", title, (LUAI_UACINT)count);
  const scl_csv_options options = scl_lua_check_csv_options(L, 2, title, &kept);
  scl_table *table = new_table(L);
  void **slot = scl_lua_new_source(L);
  scl_source *source = NULL;
  CHECK_READING(L, title, scl_csv_stream(paths[0], &options, table, &source, &error), source->rows,
                1);
  *slot = source;
  if (kept != 0) { /* the source points to the words for a missing value and to the schema */
    scl_lua_tie(L, -1, kept);
  }
  push_table(L, table, false);
  scl_lua_set_integer(L, "rows", table->rows);
  scl_table_destroy(table);
  return 2;
}

/* core.write_csv(matrix, names or nil, path) */
static int write_csv(lua_State *L) {
  static const char title[] = "write_csv";
  scl_error error = {0};
  size_t count = 0;
  const scl_matrix *a = scl_lua_hold_matrix(L, 1);
  const char *const *names =
      lua_isnoneornil(L, 2) ? NULL : scl_lua_check_texts(L, 2, title, "names", &count);
  if (names != NULL && count != a->cols)
    return luaL_error(L, "%s: %I names, and the matrix has %I columns", title, (LUAI_UACINT)count,
                      (LUAI_UACINT)a->cols);
  scl_lua_check_titled(L, title, scl_csv_write(a, names, scl_lua_check_path(L, 3), &error), &error);
  return 0;
}

/* The data set in LIBSVM files; stream: as a source, and the fields of the data set without X and
 * y. */
static int open_libsvm(lua_State *L, bool stream) {
  static const char title[] = "data.libsvm";
  size_t count;
  scl_error error = {0};
  luaL_checkstack(L, 20, title);
  const char *const *paths = scl_lua_check_texts(L, 1, title, "path", &count);
  const scl_libsvm_options o = scl_lua_check_libsvm_options(L, 2, title);
  if (count == 0) return luaL_error(L, "%s: the list of paths is empty", title);
  scl_table *table = new_table(L);
  if (!stream) {
    CHECK_READING(L, title, scl_libsvm_read(paths, count, &o, table, &error), table->rows, 1);
    return give_table(L, table);
  }
  void **slot = scl_lua_new_source(L);
  scl_source *source = NULL;
  CHECK_READING(L, title, scl_libsvm_stream(paths, count, &o, table, &source, &error), source->rows,
                1);
  *slot = source;
  push_table(L, table, source->sparse);
  scl_table_destroy(table);
  return 2;
}

/* core.read_libsvm(paths, {features =, base =, sparse =, task =, dtype =, unpacked =}) -> the same
 * fields as read_csv */
static int read_libsvm(lua_State *L) { return open_libsvm(L, false); }

/* core.stream_libsvm(paths, options) -> source, the same fields without X and y */
static int stream_libsvm(lua_State *L) { return open_libsvm(L, true); }

/* core.write_libsvm(sparse X, y: n x 1, path) */
static int write_libsvm(lua_State *L) {
  const scl_csr *x = scl_lua_hold_csr(L, 1);
  const scl_matrix *y = scl_lua_check_matrix(L, 2);
  const char *path = scl_lua_check_path(L, 3);
  if (y->rows != x->rows || y->cols != 1)
    return luaL_error(L, "write_libsvm: %I rows and %I x %I labels", (LUAI_UACINT)x->rows,
                      (LUAI_UACINT)y->rows, (LUAI_UACINT)y->cols);
  double *labels = lua_newuserdatauv(L, (x->rows + 1) * sizeof *labels, 0);
  scl_lua_check_held(L, y);
  for (size_t i = 0; i < x->rows; i++)
    labels[i] = scl_matrix_get(y, i, 0);
  SCL_LUA_TRY(L, scl_libsvm_write(x, labels, path, &error));
  return 0;
}

/* core.libsvm_size(path, options) -> about how many rows and numbers the file has; nothing for a small
 * file, and where its size does not tell: gzip, pipes */
static int libsvm_size(lua_State *L) {
  enum { LARGE = 1 << 27 };
  static const char title[] = "data.libsvm";
  scl_error error = {0};
  scl_libsvm_size size = {0};
  const char *path = scl_lua_check_path(L, 1);
  struct stat file;
  if (stat(path, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size < LARGE) return 0;
  const scl_libsvm_options o = scl_lua_check_libsvm_options(L, 2, title);
  scl_lua_check_titled(L, title, scl_libsvm_estimate(path, &o, &size, &error), &error);
  if (isnan(size.rows)) return 0;
  lua_pushnumber(L, size.rows);
  lua_pushnumber(L, size.entries);
  return 2;
}

/* ------------ arrays */

/* The data set in IDX files; stream: as a source, and the fields of the data set without X and
 * y. */
static int open_idx(lua_State *L, bool stream) {
  static const char title[] = "data.idx";
  size_t count, labelled = 0;
  scl_error error = {0};
  luaL_checkstack(L, 20, title);
  const char *const *images = scl_lua_check_texts(L, 1, title, "images", &count);
  const char *const *labels =
      lua_isnil(L, 2) ? NULL : scl_lua_check_texts(L, 2, title, "labels", &labelled);
  const scl_idx_options o = scl_lua_check_idx_options(L, 3, title);
  if (count == 0) return luaL_error(L, "%s: the list of images is empty", title);
  if (labels != NULL && labelled != count)
    return luaL_error(L, "%s: %d files of images and %d of labels", title, (int)count,
                      (int)labelled);
  scl_table *table = new_table(L);
  if (!stream) {
    CHECK_READING(L, title, scl_idx_read(images, labels, count, &o, table, &error), table->rows, 1);
    return give_table(L, table);
  }
  void **slot = scl_lua_new_source(L);
  scl_source *source = NULL;
  scl_lua_check_titled(L, title, scl_idx_stream(images, labels, count, &o, table, &source, &error),
                       &error);
  *slot = source;
  return 1 + give_table(L, table);
}

/* core.read_idx(images, labels or nil, {scale =, dtype =, unpacked =}) -> the same fields as
 * read_csv; images and labels: a text or a list of them */
static int read_idx(lua_State *L) { return open_idx(L, false); }

/* core.stream_idx, as read_idx -> source, the fields of read_idx without X and y */
static int stream_idx(lua_State *L) { return open_idx(L, true); }

/* core.read_npy(path[, unpacked[, together]]) -> matrix; unpacked: the bound of bytes for gzip */
static int read_npy(lua_State *L) {
  scl_error error = {0};
  const char *path = scl_lua_check_path(L, 1);
  const size_t unpacked = scl_lua_opt_size(L, 2, 1, (size_t)1 << 53, "unpacked", 0);
  scl_matrix *out = scl_lua_new_matrix(L);
  CHECK_READING(L, "data.npy", scl_npy_read(path, unpacked, lua_toboolean(L, 3), out, &error),
                out->rows, 1);
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

/* core.write_npy(matrix, path) */
static int write_npy(lua_State *L) {
  SCL_LUA_TRY(L, scl_npy_write(scl_lua_hold_matrix(L, 1), scl_lua_check_path(L, 2), &error));
  return 0;
}

/* core.stream_npy(path of X, path of y or nil) -> source */
static int stream_npy(lua_State *L) {
  scl_error error = {0};
  const char *x_path = scl_lua_check_path(L, 1), *y_path = scl_lua_opt_path(L, 2);
  void **slot = scl_lua_new_source(L);
  scl_source *source = NULL;
  scl_lua_check_titled(L, "data.npy", scl_npy_stream(x_path, y_path, &source, &error), &error);
  *slot = source;
  return 1;
}

/* core.read_matrix_market(path, {sparse =, dtype =, unpacked =}) -> matrix or sparse matrix */
static int read_matrix_market(lua_State *L) {
  static const char title[] = "data.matrix_market";
  scl_error error = {0};
  const char *path = scl_lua_check_path(L, 1);
  const scl_matrix_market_options o = scl_lua_check_matrix_market_options(L, 2, title);
  scl_matrix *dense = scl_lua_new_matrix(L);
  scl_csr *sparse = scl_lua_new_csr(L);
  CHECK_READING(L, title, scl_matrix_market_read(path, &o, sparse, dense, &error),
                dense->rows + sparse->rows, 1);
  scl_lua_account(L, scl_csr_bytes(sparse) + scl_matrix_bytes(dense));
  if (sparse->storage == NULL) lua_pop(L, 1);
  return 1;
}

/* ------------ .npz */

static void release_npz(void *npz) { scl_npz_close(npz); }

/* The file at place 1, owned by a handle on the stack. */
static scl_npz *open_npz(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_handle(L, "scullery.npz", release_npz), scl_npz,
                      scl_npz_open(path, &made, &error));
  return scl_lua_check_handle(L, -1, "scullery.npz");
}

/* core.npz_names(path) -> list of the arrays' names, whether they are a sparse matrix of scipy's */
static int npz_names(lua_State *L) {
  const scl_npz *npz = open_npz(L);
  lua_newtable(L);
  for (size_t k = 0; scl_npz_name(npz, k) != NULL; k++) {
    lua_pushstring(L, scl_npz_name(npz, k));
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
  lua_pushboolean(L, scl_npz_is_sparse(npz));
  return 2;
}

static void release_array(void *pointer) {
  scl_npz_array_release(pointer);
  scl_release(pointer);
}

/* core.read_npz(path, name) -> the array: a matrix, or a list of texts; without a name: the sparse
 * matrix */
static int read_npz(lua_State *L) {
  scl_error error = {0};
  scl_npz *npz = open_npz(L);
  if (lua_isnil(L, 2)) {
    scl_csr *out = scl_lua_new_csr(L);
    CHECK_READING(L, NULL, scl_npz_csr(npz, out, &error), out->rows, 1);
    scl_lua_account(L, scl_csr_bytes(out));
    return 1;
  }
  const char *name = luaL_checkstring(L, 2);
  scl_npz_array *array = scl_lua_new_owned(L, "scullery.npz_array", release_array, sizeof *array);
  CHECK_READING(L, NULL, scl_npz_read(npz, name, array, &error), array->numbers.rows, 1);
  if (array->texts != NULL) {
    scl_lua_push_texts(L, (const char *const *)array->texts, array->count);
    return 1;
  }
  lua_createtable(L, 0, 1);
  scl_lua_set_matrix(L, "numbers", &array->numbers);
  lua_getfield(L, -1, "numbers");
  return 1;
}

/* core.write_npz(X, y or nil, labels or nil, path); labels: the texts that the numbers of y stand
 * for */
static int write_npz(lua_State *L) {
  size_t count = 0;
  scl_npz_content content = {0};
  if (scl_lua_test_csr(L, 1) != NULL)
    content.x = scl_lua_hold_csr(L, 1);
  else
    content.dense = scl_lua_hold_matrix(L, 1);
  if (!lua_isnil(L, 2)) content.y = scl_lua_hold_matrix(L, 2);
  if (!lua_isnil(L, 3)) content.labels = scl_lua_check_texts(L, 3, "write_npz", "labels", &count);
  content.n_labels = count;
  for (size_t i = 0; content.labels != NULL && i < content.y->rows; i++) {
    const double code = scl_matrix_get(content.y, i, 0);
    if (!(code >= 1 && code <= (double)count && code == floor(code)))
      return luaL_error(L, "write_npz: row %I has no label", (LUAI_UACINT)i + 1);
  }
  SCL_LUA_TRY(L, scl_npz_write(&content, scl_lua_check_path(L, 4), &error));
  return 0;
}

/* ------------ fetching */

/* core.fetch(url, path, sha256 or nil) */
static int fetch(lua_State *L) {
  SCL_LUA_TRY(L, scl_fetch(luaL_checkstring(L, 1), scl_lua_check_path(L, 2),
                           luaL_optstring(L, 3, NULL), &error));
  return 0;
}

/* core.sha256(path) -> hexadecimal digest of the file */
static int sha256(lua_State *L) {
  char digest[65];
  SCL_LUA_TRY(L, scl_sha256_file(scl_lua_check_path(L, 1), digest, &error));
  return scl_lua_give_text(L, digest);
}

/* core.make_folder(path[, mode]): nothing when it is there already; mode: the permission bits of a
 * new one, without those of the umask (octal 777) */
static int make_folder(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  const size_t mode = lua_isnil(L, 2) ? 0777 : scl_lua_check_size(L, 2, 0, 0777, "mode");
  if (mkdir(path, (unsigned)mode) != 0 && errno != EEXIST)
    return luaL_error(L, "%s: the folder cannot be made: %s", path, strerror(errno));
  return 0;
}

SCL_LUA_CALLS(scl_lua_data_calls, {"read_csv", read_csv, 2}, {"stream_csv", stream_csv, 2},
              {"read_libsvm", read_libsvm, 2}, {"stream_libsvm", stream_libsvm, 2},
              {"libsvm_size", libsvm_size, 2}, {"write_libsvm", write_libsvm, 3},
              {"read_idx", read_idx, 3}, {"stream_idx", stream_idx, 3}, {"read_npy", read_npy, 3},
              {"write_npy", write_npy, 2}, {"write_csv", write_csv, 3},
              {"stream_npy", stream_npy, 2}, {"read_matrix_market", read_matrix_market, 2},
              {"npz_names", npz_names, 1}, {"read_npz", read_npz, 2}, {"write_npz", write_npz, 4},
              {"fetch", fetch, 3}, {"sha256", sha256, 1}, {"make_folder", make_folder, 2});
