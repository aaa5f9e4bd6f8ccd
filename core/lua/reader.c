/* scullery.core: files whose rows are cells, under names that the readers of comma-separated text
 * take. lua/scullery/data/read.lua calls this. */
#include "data/reader.h"
#include "lua/data_options.h"
#include "lua/handle.h"
#include "plugin/reader.h"

#define SCL_LUA_CELL_FILE "scullery.cell_file"

static void release(void *file) { scl_cell_file_destroy(file); }

/* core.reader_of(path) -> the name of the reader that recognises the file, or nil */
static int reader_of(lua_State *L) {
  const scl_component *reader;
  const char *path = scl_lua_check_path(L, 1);
  SCL_LUA_TRY(L, scl_reader_of(path, &reader, &error));
  return scl_lua_give_text(L, reader == NULL ? NULL : reader->plugin.name);
}

/* core.reader_file(reader, path[, columns]) -> a handle, the name under which its rows are read as
 * long as the handle lives, and the names of the columns, a list. columns: those that are read. */
static int reader_file(lua_State *L) {
  const scl_instance *reader = scl_lua_check_instance(L, 1, SCL_KIND_READER);
  const char *path = scl_lua_check_path(L, 2);
  size_t count = 0;
  lua_settop(L, 3);
  const char *const *columns =
      lua_isnil(L, 3) ? NULL : scl_lua_check_texts(L, 3, "data.read", "select", &count);
  scl_cell_file *file = NULL;
  void **slot = scl_lua_new_handle(L, SCL_LUA_CELL_FILE, release);
  SCL_LUA_TRY(L, scl_cell_file_create(reader, path, columns, count, &file, &error));
  *slot = file;
  lua_pushstring(L, scl_cell_file_name(file));
  const scl_reader_column *column = scl_cell_file_columns(file, &count);
  lua_createtable(L, (int)count, 0);
  for (size_t j = 0; j < count; j++) {
    lua_pushstring(L, column[j].name);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
  return 3;
}

void scl_lua_open_reader(lua_State *L) {
  SCL_LUA_CALLS(L, {"reader_of", reader_of, 1}, {"reader_file", reader_file, 3});
}
