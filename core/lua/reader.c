/* scullery.core: files whose rows are cells, under names that the readers of comma-separated text
 * take. lua/scullery/data/read.lua calls this. */
#include "data/reader.h"
#include "lua/handle.h"

#include <stdio.h>

#define SCL_LUA_READER "scullery.reader"

static void release(void *file) { scl_reader_file_destroy(file); }

/* The field as a text, kept by its table; NULL where it is absent. */
static const char *field(lua_State *L, int place, const char *name) {
  const char *text = NULL;
  if (lua_getfield(L, place, name) != LUA_TNIL) text = luaL_checkstring(L, -1);
  lua_pop(L, 1);
  return text;
}

/* core.reader_of(path) -> the name of the reader that recognises the file, or nil */
static int reader_of(lua_State *L) {
  const scl_reader *reader;
  const char *path = scl_lua_check_path(L, 1);
  SCL_LUA_TRY(L, scl_reader_of(path, &reader, &error));
  return scl_lua_give_text(L, reader == NULL ? NULL : reader->name);
}

/* core.reader_file(reader, path, {query =, table =}) -> a handle, and the name under which its rows
 * are read as long as the handle lives */
static int reader_file(lua_State *L) {
  const char *name = luaL_checkstring(L, 1), *path = scl_lua_check_path(L, 2);
  const scl_reader *reader = scl_reader_find(name);
  luaL_checktype(L, 3, LUA_TTABLE);
  if (reader == NULL) return luaL_error(L, "this build has no reader '%s'", name);
  const scl_reader_options options = {field(L, 3, "query"), field(L, 3, "table")};
  scl_reader_file *file = NULL;
  void **slot = scl_lua_new_handle(L, SCL_LUA_READER, release);
  SCL_LUA_TRY(L, scl_reader_file_create(reader, path, &options, &file, &error));
  *slot = file;
  lua_pushstring(L, scl_reader_file_name(file));
  return 2;
}

void scl_lua_open_reader(lua_State *L) {
  SCL_LUA_CALLS(L, {"reader_of", reader_of, 1}, {"reader_file", reader_file, 3});
}
