/* scullery.core: rows read from and written to files as they come. */
#include "data/row_blocks.h"
#include "data/row_file.h"
#include "lua/data_options.h"
#include "lua/handle.h"
#include "lua/list.h"

#define BLOCKS "scullery.row_blocks"
#define FILE_OF_ROWS "scullery.row_file"

/* ------------------------------------------------------------ reading */

static void close_blocks(void *blocks) { scl_row_blocks_close(blocks); }

static int open_blocks(lua_State *L,
                       scl_status (*open)(const char *, size_t, scl_row_blocks **, scl_error *)) {
  scl_error error = {0};
  scl_row_blocks *blocks = NULL;
  const char *path = scl_lua_check_path(L, 1);
  const size_t cols = scl_lua_check_size(L, 2, 1, INT32_MAX, "columns");
  void **slot = scl_lua_new_handle(L, BLOCKS, close_blocks);
  scl_lua_check(L, open(path, cols, &blocks, &error), &error);
  *slot = blocks;
  return 1;
}

/* core.npy_blocks(path, columns), core.libsvm_blocks(path, columns) -> blocks for core.next_rows;
 * "-" is the standard input */
static int npy_blocks(lua_State *L) { return open_blocks(L, scl_npy_blocks_open); }
static int libsvm_blocks(lua_State *L) { return open_blocks(L, scl_libsvm_blocks_open); }

/* core.next_rows(blocks) -> X, nothing at the end */
static int next_rows(lua_State *L) {
  scl_error error = {0};
  scl_row_blocks *blocks = scl_lua_take_handle(L, 1, BLOCKS);
  scl_matrix *x = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_row_blocks_next(blocks, x, &error), &error);
  if (x->storage == NULL) return 0;
  scl_lua_account(L, scl_matrix_bytes(x));
  return 1;
}

/* ------------------------------------------------------------ writing */

static void close_file(void *file) { scl_row_file_close(file); }

/* core.row_file(path or nil, {names =, labels =, id =, npy =}) -> file for core.write_rows; without
 * a path the standard output; see scl_row_format */
static int row_file(lua_State *L) {
  static const char title[] = "row_file";
  scl_error error = {0};
  scl_row_format format = {0};
  scl_row_file *file = NULL;
  scl_lua_copy_table(L, 2, "options");
  const char *path = scl_lua_opt_path(L, 1);
  lua_getfield(L, 2, "npy");
  format.npy = lua_toboolean(L, -1);
  lua_getfield(L, 2, "id");
  format.id = luaL_optstring(L, -1, NULL);
  lua_getfield(L, 2, "names");
  format.names = scl_lua_check_texts(L, -1, title, "names", &format.cols);
  if (lua_getfield(L, 2, "labels") != LUA_TNIL)
    format.labels = scl_lua_check_texts(L, -1, title, "labels", &format.n_labels);
  void **slot = scl_lua_new_handle(L, FILE_OF_ROWS, close_file);
  scl_lua_check(L, scl_row_file_open(path, &format, &file, &error), &error);
  *slot = file;
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
  scl_error error = {0};
  scl_row_file *file = scl_lua_take_handle(L, 1, FILE_OF_ROWS);
  const scl_matrix *rows = scl_lua_hold_matrix(L, 2);
  const scl_text_part *ids = check_ids(L, 3, rows->rows);
  scl_lua_check(L, scl_row_file_write(file, rows, ids, &error), &error);
  return 0;
}

/* core.commit_rows(file): make it the file. A file that is closed without is not there. */
static int commit_rows(lua_State *L) {
  scl_error error = {0};
  scl_row_file *file = scl_lua_take_handle(L, 1, FILE_OF_ROWS);
  scl_lua_check(L, scl_row_file_commit(file, &error), &error);
  return 0;
}

void scl_lua_open_row_files(lua_State *L) {
  SCL_LUA_CALLS(L, {"npy_blocks", npy_blocks, 2}, {"libsvm_blocks", libsvm_blocks, 2},
                {"next_rows", next_rows, 1}, {"row_file", row_file, 2},
                {"write_rows", write_rows, 3}, {"commit_rows", commit_rows, 1});
}
