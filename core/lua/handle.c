#include "lua/handle.h"
#include "learn/labels.h"

#include <string.h>

typedef struct handle {
  void *pointer;
  void (*release)(void *);
} handle;

static int collect(lua_State *L) {
  handle *h = lua_touserdata(L, 1);
  if (h != NULL && h->pointer != NULL) {
    h->release(h->pointer);
    h->pointer = NULL;
  }
  return 0;
}

static int describe(lua_State *L) {
  const handle *h = lua_touserdata(L, 1);
  luaL_getmetafield(L, 1, "__name");
  lua_pushfstring(L, h->pointer == NULL ? "%s (released)" : "%s", lua_tostring(L, -1));
  return 1;
}

void **scl_lua_new_handle(lua_State *L, const char *name, void (*release)(void *), int keep) {
  handle *h = lua_newuserdatauv(L, sizeof *h, keep);
  h->pointer = NULL;
  h->release = release;
  if (luaL_newmetatable(L, name)) {
    static const luaL_Reg methods[] = {
        {"__gc", collect}, {"__close", collect}, {"__tostring", describe}, {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
  }
  lua_setmetatable(L, -2);
  return &h->pointer;
}

void *scl_lua_check_handle(lua_State *L, int place, const char *name) {
  const handle *h = luaL_checkudata(L, place, name);
  if (h->pointer == NULL) luaL_error(L, "this %s was released", name);
  return h->pointer;
}

void *scl_lua_field_handle(lua_State *L, int place, const char *key, const char *name) {
  void *pointer = NULL;
  if (lua_getfield(L, place, key) != LUA_TNIL) pointer = scl_lua_check_handle(L, -1, name);
  lua_pop(L, 1); /* the table keeps it alive */
  return pointer;
}

scl_instance *scl_lua_check_instance(lua_State *L, int place, scl_kind kind) {
  scl_instance *instance = scl_lua_check_handle(L, place, SCL_LUA_INSTANCE);
  scl_error error = {0};
  scl_lua_check(L, scl_instance_expect(instance, kind, &error), &error);
  return instance;
}

static void release_map(void *map) { scl_map_destroy(map); }

void **scl_lua_new_map(lua_State *L) { return scl_lua_new_handle(L, SCL_LUA_MAP, release_map, 0); }

/* ------------------------------------------------------------ sources */

static void release_source(void *source) { scl_source_destroy(source); }

void **scl_lua_new_source(lua_State *L) {
  return scl_lua_new_handle(L, SCL_LUA_SOURCE, release_source, 1);
}

scl_source *scl_lua_check_source(lua_State *L, int place) {
  return scl_lua_check_handle(L, place, SCL_LUA_SOURCE);
}

static int source_matrix(lua_State *L) {
  const scl_matrix *x = scl_lua_check_matrix(L, 1),
                   *y = lua_isnoneornil(L, 2) ? NULL : scl_lua_check_matrix(L, 2);
  scl_error error = {0};
  void **slot = scl_lua_new_source(L);
  scl_source *source;
  scl_lua_check(L, scl_source_matrix(x, y, &source, &error), &error);
  *slot = source;
  return 1;
}

static int source_size(lua_State *L) {
  const scl_source *source = scl_lua_check_source(L, 1);
  lua_pushinteger(L, (lua_Integer)source->rows);
  lua_pushinteger(L, (lua_Integer)source->cols);
  lua_pushinteger(L, (lua_Integer)source->targets);
  return 3;
}

/* ---- rows from a Lua function: read(first, count) -> X, Y */

typedef struct generator {
  scl_source base;
  lua_State *L; /* the state of the running walk */
} generator;

/* The Lua function is its userdata's user value; this weak table finds the userdata by the source's
 * address. */
static const char *const GENERATORS = "scullery.generators";

static void push_generators(lua_State *L) {
  if (luaL_getsubtable(L, LUA_REGISTRYINDEX, GENERATORS)) return;
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

static scl_status check_block(const scl_matrix *m, const char *what, size_t rows, size_t cols,
                              scl_error *error) {
  if (m == NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the row function must return %s as a matrix",
                    what);
  if (m->rows == rows && m->cols == cols) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                  "the row function returned %s as %zu x %zu where %zu x %zu was asked for", what,
                  m->rows, m->cols, rows, cols);
}

static scl_status generator_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                                 scl_matrix *y, scl_error *error) {
  const generator *self = (const generator *)source;
  lua_State *L = self->L;
  const int top = lua_gettop(L);
  if (!lua_checkstack(L, 8)) return scl_fail_memory(error, 64, "Lua's stack");
  push_generators(L);
  lua_rawgetp(L, -1, self);
  lua_getiuservalue(L, -1, 1);
  lua_pushinteger(L, (lua_Integer)first + 1);
  lua_pushinteger(L, (lua_Integer)count);
  scl_status status = SCL_STATUS_OK;
  if (lua_pcall(L, 2, 2, 0) != LUA_OK) {
    const char *message = lua_tostring(L, -1);
    status = scl_fail(error, SCL_STATUS_IO, "the row function failed: %s",
                      message == NULL ? "(no message)" : message);
  } else {
    const scl_matrix *rows = scl_lua_test_matrix(L, -2), *targets = scl_lua_test_matrix(L, -1);
    status = check_block(rows, "X", count, source->cols, error);
    if (status == SCL_STATUS_OK && y != NULL)
      status = check_block(targets, "y", count, source->targets, error);
    if (status == SCL_STATUS_OK) scl_matrix_assign(rows, x);
    if (status == SCL_STATUS_OK && y != NULL) scl_matrix_assign(targets, y);
  }
  lua_settop(L, top);
  return status;
}

static void generator_destroy(scl_source *source) { scl_release(source); }

static const scl_source_class generator_class = {generator_read, generator_destroy};

/* core.generator(rows, cols, targets, read): the function is kept as the userdata's value. */
static int source_generator(lua_State *L) {
  const size_t rows = scl_lua_check_size(L, 1, 0, (size_t)1 << 52, "n"),
               cols = scl_lua_check_size(L, 2, 0, (size_t)1 << 31, "d");
  const size_t targets = scl_lua_check_size(L, 3, 0, (size_t)1 << 31, "targets");
  luaL_checktype(L, 4, LUA_TFUNCTION);
  void **slot = scl_lua_new_source(L);
  generator *self = scl_allocate_zero(sizeof *self);
  if (self == NULL) return luaL_error(L, "not enough memory for a source");
  self->base = (scl_source){&generator_class, rows, cols, targets, false, false};
  *slot = self;
  lua_pushvalue(L, 4);
  lua_setiuservalue(L, -2, 1);
  push_generators(L);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, self);
  lua_pop(L, 1);
  return 1;
}

void scl_lua_prepare_source(lua_State *L, scl_source *source) {
  if (source->class == &generator_class) ((generator *)source)->L = L;
  scl_source *from = scl_source_coded_from(source);
  if (from == NULL) from = scl_source_columns_from(source);
  if (from != NULL) scl_lua_prepare_source(L, from);
}

/* core.read_rows(source, first, count) -> X, y or nil */
static int source_rows(lua_State *L) {
  scl_source *source = scl_lua_check_source(L, 1);
  const size_t first = scl_lua_check_size(L, 2, 1, source->rows + 1, "first") - 1,
               count = scl_lua_check_size(L, 3, 0, source->rows - first, "count");
  scl_error error = {0};
  scl_lua_prepare_source(L, source);
  scl_matrix *x = scl_lua_new_matrix(L), *y = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_matrix_create(count, source->cols, SCL_DTYPE_FLOAT64, x, &error), &error);
  scl_lua_check(L, scl_matrix_create(count, source->targets, SCL_DTYPE_FLOAT64, y, &error), &error);
  scl_lua_check(
      L, source->class->read(source, first, count, x, source->targets > 0 ? y : NULL, &error),
      &error);
  return 2;
}

/* core.source_columns(source, places) -> a source of those columns (from 1), in that order */
static int source_columns(lua_State *L) {
  lua_settop(L, 2);
  scl_source *source = NULL, *from = scl_lua_check_source(L, 1);
  scl_error error = {0};
  luaL_checktype(L, 2, LUA_TTABLE);
  const size_t count = (size_t)luaL_len(L, 2);
  void **slot = scl_lua_new_source(L);
  size_t *places = lua_newuserdatauv(L, (count + 1) * sizeof *places, 0);
  for (size_t j = 0; j < count; j++) {
    lua_geti(L, 2, (lua_Integer)j + 1);
    places[j] = scl_lua_check_size(L, lua_gettop(L), 1, from->cols, "column") - 1;
    lua_pop(L, 1);
  }
  scl_lua_check(L, scl_source_columns(from, places, count, &source, &error), &error);
  *slot = source;
  lua_pushvalue(L, 1); /* what it reads from */
  lua_setiuservalue(L, 3, 1);
  lua_settop(L, 3);
  return 1;
}

/* ------------------------------------------------------------ flows */

scl_flow scl_lua_flow(lua_State *L, int source, int stages, int map) {
  scl_flow flow = {
      .source = scl_lua_check_source(L, source), .groups = 1, .dtype = SCL_DTYPE_FLOAT64};
  scl_lua_prepare_source(L, flow.source);
  const lua_Integer count = stages == 0 || lua_isnoneornil(L, stages) ? 0 : luaL_len(L, stages);
  scl_stage **list = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *list, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_geti(L, stages, i);
    list[i - 1] = scl_lua_check_handle(L, -1, SCL_LUA_STAGE);
    lua_pop(L, 1);
  }
  flow.stages = list;
  flow.n_stages = (size_t)count;
  if (map != 0 && !lua_isnoneornil(L, map)) {
    flow.map = scl_lua_check_handle(L, map, SCL_LUA_MAP);
    flow.dtype = scl_map_dtype(flow.map);
  }
  return flow;
}

void scl_lua_open_source(lua_State *L) {
  SCL_LUA_FUNCTIONS(L, {"source", source_matrix}, {"source_size", source_size},
                    {"generator", source_generator}, {"read_rows", source_rows},
                    {"source_columns", source_columns});
}
