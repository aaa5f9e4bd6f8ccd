/* scullery.core: rows in blocks, read once from a file or the standard input and written to one,
 * for `scullery predict` (lua/scullery/model/predict.lua): memory does not grow with the file. */
#include "base/profile.h"
#include "data/csv/csv.h"
#include "data/libsvm.h"
#include "data/npy.h"
#include "data/row_file.h"
#include "lua/data_options.h"
#include "lua/handle.h"
#include "lua/list.h"
#include "lua/schema.h"
#include "lua/sparse.h"

#define ONCE "scullery.rows_once"
#define FILE_OF_ROWS "scullery.row_file"

/* ------------ reading once */

static void release_source(void *source) { scl_source_destroy(source); }

static const char csv_title[] = "data.csv_blocks";

/* core.csv_blocks(path, options, id column or nil) -> blocks for core.next_rows: rows by the schema
 * options.like; "-" is the standard input, here and below */
static int csv_blocks(lua_State *L) {
  scl_error error = {0};
  luaL_checkstack(L, 40, csv_title);
  const char *path = scl_lua_check_path(L, 1), *id = luaL_optstring(L, 3, NULL);
  const scl_csv_options options = scl_lua_check_csv_options(L, 2, csv_title, NULL);
  if (options.like == NULL) return luaL_error(L, "%s: option 'like' is missing", csv_title);
  const int top = lua_gettop(L);
  void **slot = scl_lua_new_handle(L, ONCE, release_source);
  for (int i = 1; i <= top; i++) /* what the options point to lives as long as the blocks */
    scl_lua_tie(L, -1, i);
  scl_source *source = NULL;
  scl_lua_check_titled(L, csv_title, scl_csv_once(path, &options, id, &source, &error), &error);
  *slot = source;
  return 1;
}

/* core.npy_blocks(path, columns), core.libsvm_blocks(path, columns[, base]) -> blocks for
 * core.next_rows */
static int npy_blocks(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  const size_t cols = scl_lua_check_size(L, 2, 1, INT32_MAX, "columns");
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_handle(L, ONCE, release_source), scl_source,
                      scl_npy_once(path, cols, &made, &error));
  return 1;
}

static int libsvm_blocks(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  const size_t cols = scl_lua_check_size(L, 2, 1, INT32_MAX, "columns");
  const bool from_zero = scl_lua_opt_size(L, 3, 0, 1, "base", 1) == 0;
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_handle(L, ONCE, release_source), scl_source,
                      scl_libsvm_once(path, cols, from_zero, &made, &error));
  return 1;
}

/* A list of the texts of the last block's ids. */
static void push_ids(lua_State *L, const scl_source *source, size_t rows) {
  lua_createtable(L, (int)rows, 0);
  for (size_t i = 0; i < rows; i++) {
    size_t length;
    const char *id = scl_csv_id(source, i, &length);
    if (id == NULL) luaL_error(L, "%s: no column of ids was asked for", csv_title);
    lua_pushlstring(L, id, length);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* The next block on the stack, sparse where the source is; the number of its rows. */
static size_t push_block(lua_State *L, scl_source *source, scl_status *status, scl_error *error) {
  if (source->sparse) {
    scl_csr *x = scl_lua_new_csr(L);
    *status = scl_source_next_sparse(source, x, NULL, error);
    scl_lua_account(L, scl_csr_bytes(x));
    return x->rows;
  }
  scl_matrix *x = scl_lua_new_matrix(L);
  *status = scl_source_next(source, x, NULL, error);
  scl_lua_account(L, scl_matrix_bytes(x));
  return x->rows;
}

/* core.next_rows(blocks[, with ids]) -> X[, list of ids], nothing at the end */
static int next_rows(lua_State *L) {
  scl_error error = {0};
  scl_status status;
  scl_source *source = scl_lua_take_handle(L, 1, ONCE);
  const bool ids = lua_toboolean(L, 2);
  const size_t mark = scl_profile_enter("reading");
  const size_t rows = push_block(L, source, &status, &error);
  scl_profile_leave(mark, status == SCL_STATUS_OK ? (double)rows : 0, 0);
  scl_lua_check_titled(L, scl_csv_is(source) ? csv_title : NULL, status, &error);
  if (rows == 0) return 0;
  if (!ids) return 1;
  push_ids(L, source, rows);
  return 2;
}

static void release_notes(void *notes) { scl_release(notes); }

/* core.block_notes(blocks) -> notes so far, as read_csv has them */
static int block_notes(lua_State *L) {
  scl_error error = {0};
  scl_note *notes = NULL;
  size_t count;
  const scl_source *source = scl_lua_check_handle(L, 1, ONCE);
  void **slot = scl_lua_new_handle(L, "scullery.notes", release_notes);
  const scl_status status = scl_csv_notes(source, &notes, &count, &error);
  *slot = notes;
  scl_lua_check(L, status, &error);
  scl_lua_push_notes(L, notes, count);
  return 1;
}

/* ------------ writing */

static void close_file(void *file) { scl_row_file_close(file); }

/* core.row_file(path or nil, {names =, labels =, id =, npy =, no_header =, append =, digits =}) ->
 * file for core.write_rows; without a path the standard output; see scl_row_format */
static int row_file(lua_State *L) {
  static const char title[] = "row_file";
  scl_row_format format = {0};
  scl_lua_copy_table(L, 2, "options");
  const char *path = scl_lua_opt_path(L, 1);
  format.npy = scl_lua_field_flag(L, 2, "npy");
  format.no_header = scl_lua_field_flag(L, 2, "no_header");
  format.append = path != NULL && scl_lua_field_flag(L, 2, "append");
  lua_getfield(L, 2, "digits");
  const lua_Integer digits = luaL_optinteger(L, -1, 0);
  if (digits < 0 || digits > 17) return luaL_error(L, "%s: digits takes 0 to 17", title);
  format.digits = (unsigned)digits;
  lua_getfield(L, 2, "id");
  format.id = luaL_optstring(L, -1, NULL);
  lua_getfield(L, 2, "names");
  format.names = scl_lua_check_texts(L, -1, title, "names", &format.cols);
  if (lua_getfield(L, 2, "labels") != LUA_TNIL)
    format.labels = scl_lua_check_texts(L, -1, title, "labels", &format.n_labels);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_handle(L, FILE_OF_ROWS, close_file), scl_row_file,
                      scl_row_file_open(path, &format, &made, &error));
  return 1;
}

/* The texts of the list at `place`, a row each, in a userdata left on the stack; NULL for nil. */
static const scl_text_part *check_ids(lua_State *L, int place, size_t rows) {
  if (lua_isnoneornil(L, place)) return NULL;
  const size_t count = scl_lua_copy_list(L, place, rows, "ids");
  if (count != rows) luaL_error(L, "%I ids for %I rows", (LUAI_UACINT)count, (LUAI_UACINT)rows);
  scl_text_part *ids = lua_newuserdatauv(L, (rows + 1) * sizeof *ids, 0);
  for (size_t i = 0; i < rows; i++) {
    if (lua_rawgeti(L, place, (lua_Integer)i + 1) != LUA_TSTRING)
      luaL_error(L, "row %I has no id", (LUAI_UACINT)i + 1);
    ids[i].text = lua_tolstring(L, -1, &ids[i].length); /* the copy keeps it alive */
    lua_pop(L, 1);
  }
  return ids;
}

/* core.write_rows(file, matrix[, ids]) */
static int write_rows(lua_State *L) {
  scl_row_file *file = scl_lua_take_handle(L, 1, FILE_OF_ROWS);
  const scl_matrix *rows = scl_lua_hold_matrix(L, 2);
  const scl_text_part *ids = check_ids(L, 3, rows->rows);
  SCL_LUA_TRY(L, scl_row_file_write(file, rows, ids, &error));
  return 0;
}

/* core.commit_rows(file): make it the file. A file that is closed without is not there. */
static int commit_rows(lua_State *L) {
  SCL_LUA_TRY(L, scl_row_file_commit(scl_lua_take_handle(L, 1, FILE_OF_ROWS), &error));
  return 0;
}

SCL_LUA_CALLS(scl_lua_row_files_calls, {"csv_blocks", csv_blocks, 3}, {"npy_blocks", npy_blocks, 2},
              {"libsvm_blocks", libsvm_blocks, 3}, {"next_rows", next_rows, 2},
              {"block_notes", block_notes, 1}, {"row_file", row_file, 2},
              {"write_rows", write_rows, 3}, {"commit_rows", commit_rows, 1});
