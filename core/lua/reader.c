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

/* core.reader_columns(reader, path) -> the names of a file's columns, a list */
static int reader_columns(lua_State *L) {
  const scl_instance *reader = scl_lua_check_instance(L, 1, SCL_KIND_READER);
  const char *path = scl_lua_check_path(L, 2);
  scl_reader_schema schema;
  void *file;
  SCL_LUA_TRY(L, scl_reader_open(reader, path, &file, &error));
  scl_error error = {0};
  const scl_status status = scl_reader_get_schema(reader, file, &schema, &error);
  lua_newtable(L);
  for (size_t j = 0; status == SCL_STATUS_OK && j < schema.columns; j++) {
    lua_pushstring(L, schema.column[j].name);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
  scl_reader_close(reader, file);
  return status == SCL_STATUS_OK ? 1 : luaL_error(L, "%s", error.message);
}

/* core.reader_file(reader, path[, columns]) -> a handle, and the name under which its rows are read
 * as long as the handle lives. columns: the names of those that are read. */
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
  return 2;
}

SCL_LUA_CALLS(scl_lua_reader_calls, {"reader_of", reader_of, 1},
              {"reader_columns", reader_columns, 2}, {"reader_file", reader_file, 3});
