/* scullery.checker: files that readers read, as texts in which each cell says what it is, for
 * checks of plugins. */
#include "plugin/reader.h"
#include "checker/checker.h"
#include "checker/guarded.h"
#include "lua/handle.h"
#include <stdlib.h>
#include <string.h>

#define READ_FILE "scullery.checker.read_file"

typedef struct read_file {
  scl_instance *reader;
  void *opened;
  scl_reader_schema schema;
  size_t *chosen;
  size_t columns; /* that rows give */
  bool apart;     /* those of `chosen` alone */
} read_file;

static void release(void *pointer) {
  read_file *file = pointer;
  if (file->opened != NULL) scl_reader_close(file->reader, file->opened);
  scl_instance_release(file->reader);
  SCL_RELEASE(file->chosen, file);
}

/* checker.reader_example(reader, path) -> whether the reader writes an example */
static int example(lua_State *L) {
  const scl_instance *reader = scl_lua_check_instance(L, 1, SCL_KIND_READER);
  bool written;
  SCL_LUA_TRY(L, scl_reader_example(reader, luaL_checkstring(L, 2), &written, &error));
  return scl_lua_give_boolean(L, written);
}

/* checker.reader_recognises("reader", name, first bytes) */
static int recognises(lua_State *L) {
  const scl_component *reader = scl_lua_check_component(L, 1);
  luaL_argcheck(L, reader->plugin.kind == SCL_KIND_READER, 1, "a reader is wanted");
  size_t size;
  const char *first = luaL_checklstring(L, 3, &size);
  scl_guarded exact;
  SCL_LUA_TRY(L, scl_guarded_create(size, false, &exact, &error));
  if (size > 0) memcpy(exact.bytes, first, size);
  const bool known = scl_reader_recognises(reader, exact.bytes, size);
  scl_guarded_destroy(&exact);
  return scl_lua_give_boolean(L, known);
}

/* Choose the `count` columns whose places are in file->chosen. */
static void choose_columns(lua_State *L, read_file *file, size_t count) {
  SCL_LUA_TRY(
      L, scl_reader_choose(file->reader, file->opened, file->chosen, count, &file->apart, &error));
  if (file->apart) file->columns = count;
}

/* checker.reader_open(reader, path) -> a file, the names of its columns, the rows of its parts */
static int open_file(lua_State *L) {
  scl_instance *reader = scl_lua_check_instance(L, 1, SCL_KIND_READER);
  const char *path = luaL_checkstring(L, 2);
  void **slot = scl_lua_new_handle(L, READ_FILE, release);
  read_file *file = *slot = scl_allocate_zero(sizeof *file);
  if (file == NULL) return luaL_error(L, "out of memory");
  file->reader = scl_instance_share(reader);
  SCL_LUA_TRY(L, scl_reader_open(reader, path, &file->opened, &error));
  SCL_LUA_TRY(L, scl_reader_get_schema(reader, file->opened, &file->schema, &error));
  file->columns = file->schema.columns;
  file->chosen = scl_allocate_array(file->columns + 1, sizeof *file->chosen);
  if (file->chosen == NULL) return luaL_error(L, "out of memory");
  for (size_t j = 0; j < file->columns; j++)
    file->chosen[j] = j;
  choose_columns(L, file, file->columns);
  lua_createtable(L, (int)file->columns, 0);
  for (size_t j = 0; j < file->columns; j++) {
    lua_pushstring(L, file->schema.column[j].name);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
  lua_createtable(L, (int)file->schema.parts, 0);
  for (size_t k = 0; k < file->schema.parts; k++) {
    lua_pushinteger(L, (lua_Integer)file->schema.part_rows[k]);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
  return 3;
}

/* checker.reader_choose(file, columns) -> whether the reader has the slot; columns: places */
static int choose(lua_State *L) {
  read_file *file = scl_lua_take_handle(L, 1, READ_FILE);
  luaL_checktype(L, 2, LUA_TTABLE);
  const size_t count = (size_t)luaL_len(L, 2);
  luaL_argcheck(L, count <= file->schema.columns, 2, "too many columns");
  for (size_t j = 0; j < count; j++) {
    lua_rawgeti(L, 2, (lua_Integer)j + 1);
    file->chosen[j] = (size_t)luaL_checkinteger(L, -1) - 1;
    luaL_argcheck(L, file->chosen[j] < file->schema.columns, 2, "no such column");
    lua_pop(L, 1);
  }
  choose_columns(L, file, count);
  return scl_lua_give_boolean(L, file->apart);
}

/* checker.reader_seek(file, part) */
static int seek(lua_State *L) {
  read_file *file = scl_lua_take_handle(L, 1, READ_FILE);
  const size_t part = (size_t)luaL_checkinteger(L, 2) - 1;
  luaL_argcheck(L, part < file->schema.parts, 2, "no such part");
  SCL_LUA_TRY(L, scl_reader_seek(file->reader, file->opened, part, &error));
  return 0;
}

/* The cell as a text: its type and its value, "-" where it is missing. */
static void push_cell(lua_State *L, const read_file *file, size_t j, const scl_column_cells *cells,
                      size_t i) {
  scl_cell_type type = file->schema.column[file->apart ? file->chosen[j] : j].type;
  if (cells->missing != NULL && cells->missing[i]) {
    lua_pushstring(L, "-");
    return;
  }
  if (type == SCL_CELL_ANY && cells->types != NULL) type = cells->types[i];
  if (type == SCL_CELL_TEXT && cells->texts != NULL &&
      (cells->codes == NULL || cells->codes[i] < cells->n_texts)) {
    const scl_cell_text text = cells->texts[cells->codes != NULL ? cells->codes[i] : i];
    lua_pushstring(L, "text ");
    lua_pushlstring(L, text.length == 0 ? "" : text.bytes, text.length);
    lua_concat(L, 2);
  } else if (type == SCL_CELL_FLOAT64 && cells->numbers != NULL) {
    lua_pushfstring(L, "number %f", cells->numbers[i]);
  } else if ((type == SCL_CELL_INT64 || type == SCL_CELL_DATE || type == SCL_CELL_TIMESTAMP) &&
             cells->integers != NULL) {
    lua_pushfstring(L, "%d: %I", (int)type, (LUAI_UACINT)cells->integers[i]);
    if (type == SCL_CELL_TIMESTAMP) {
      lua_pushfstring(L, "/%I", (LUAI_UACINT)cells->per_second);
      lua_concat(L, 2);
    }
  } else {
    luaL_error(L, "column %d, row %d of a block: a cell without a value of its type", (int)j + 1,
               (int)i + 1);
  }
}

/* checker.reader_rows(file) -> the next rows, each a list of texts; nil after the last */
static int rows(lua_State *L) {
  const read_file *file = scl_lua_take_handle(L, 1, READ_FILE);
  scl_row_block block;
  SCL_LUA_TRY(L, scl_reader_rows(file->reader, file->opened, &block, &error));
  if (block.rows == 0) return 0;
  lua_createtable(L, (int)block.rows, 0);
  for (size_t i = 0; i < block.rows; i++) {
    lua_createtable(L, (int)file->columns, 0);
    for (size_t j = 0; j < file->columns; j++) {
      push_cell(L, file, j, &block.columns[j], i);
      lua_rawseti(L, -2, (lua_Integer)j + 1);
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

SCL_LUA_CALLS(scl_checker_reader_calls, {"reader_example", example, 2},
              {"reader_recognises", recognises, 3}, {"reader_open", open_file, 2},
              {"reader_choose", choose, 2}, {"reader_seek", seek, 2}, {"reader_rows", rows, 1});
