/* scullery.core: sources of rows (rows/source.h): matrices, functions of a script, columns of other
 * sources; and flows over them: a source, its row stages and a map. */
#include "base/interrupt.h"
#include "learn/labels.h"
#include "lua/handle.h"
#include "lua/list.h"
#include "lua/sparse.h"

static void release_source(void *source) { scl_source_destroy(source); }

void **scl_lua_new_source(lua_State *L) {
  return scl_lua_new_handle(L, SCL_LUA_SOURCE, release_source);
}

scl_source *scl_lua_check_source(lua_State *L, int place) {
  return scl_lua_check_handle(L, place, SCL_LUA_SOURCE);
}

/* The same for a sparse X: finalizers, which may release it, run before it is used. */
static int source_csr(lua_State *L) {
  const scl_matrix *y = lua_isnoneornil(L, 2) ? NULL : scl_lua_hold_matrix(L, 2);
  void **slot = scl_lua_new_source(L);
  const scl_csr *x = scl_lua_test_csr(L, 1);
  scl_source *made = NULL;
  if (x == NULL) return luaL_error(L, "this sparse matrix was released");
  SCL_LUA_TRY(L, scl_source_csr(x, y, &made, &error));
  *slot = made;
  return 1;
}

/* core.source(X[, Y]) -> a source of the rows of matrices; X may be sparse */
static int source_matrix(lua_State *L) {
  if (scl_lua_test_csr(L, 1) != NULL) return source_csr(L);
  const scl_matrix *x = scl_lua_hold_matrix(L, 1),
                   *y = lua_isnoneornil(L, 2) ? NULL : scl_lua_hold_matrix(L, 2);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_source(L), scl_source, scl_source_matrix(x, y, &made, &error));
  return 1;
}

/* core.source_size(source) -> rows, columns, targets */
static int source_size(lua_State *L) {
  const scl_source *source = scl_lua_check_source(L, 1);
  return SCL_LUA_GIVE_SIZES(L, source->rows, source->cols, source->targets);
}

/* ---- rows from a Lua function: read(first, count) -> X, Y */

/* The Lua function is tied to the source's handle, which this weak table finds by its address. Lua may
 * collect the handle while another object still reads the source: reading fails then. */
static const char *const generators = "scullery.generators";

static void push_generators(lua_State *L) {
  if (luaL_getsubtable(L, LUA_REGISTRYINDEX, generators)) return;
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

/* A status unless m is a rows x cols matrix. `what` names it: "X" or "y". */
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

/* source, first, count -> what the row function returns; raises where it was collected */
static int call_reader(lua_State *L) {
  push_generators(L);
  lua_pushvalue(L, 1);
  if (lua_rawget(L, -2) != LUA_TUSERDATA || lua_getiuservalue(L, -1, 1) != LUA_TTABLE ||
      lua_rawgeti(L, -1, 1) != LUA_TFUNCTION)
    return luaL_error(L, "it was released");
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_call(L, 2, 2);
  return 2;
}

/* The function runs in the state of the call that walks: one source may be walked by several, each
 * in a coroutine of its own. */
static scl_status generator_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                                 scl_matrix *y, scl_error *error) {
  lua_State *L = scl_lua_running();
  if (L == NULL || !lua_checkstack(L, 10)) return scl_fail_memory(error, 160, "Lua's stack");
  const int top = lua_gettop(L);
  lua_pushcfunction(L, scl_lua_as_text);
  lua_pushcfunction(L, call_reader);
  lua_pushlightuserdata(L, source);
  lua_pushinteger(L, (lua_Integer)first + 1);
  lua_pushinteger(L, (lua_Integer)count);
  scl_status status = SCL_STATUS_OK;
  if (lua_pcall(L, 3, 2, top + 1) != LUA_OK) {
    const char *why = lua_tostring(L, -1);
    status = scl_fail(error, scl_is_interrupt(why) ? SCL_STATUS_CANCELLED : SCL_STATUS_IO,
                      "the row function failed: %s", why);
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

static const scl_source_class generator_class = {.read = generator_read,
                                                 .destroy = generator_destroy};

/* core.generator(rows, cols, targets, read) -> source; read(first, count) -> X, y */
static int source_generator(lua_State *L) {
  const size_t rows = scl_lua_check_size(L, 1, 0, (size_t)1 << 52, "n"),
               cols = scl_lua_check_size(L, 2, 0, INT32_MAX, "d");
  const size_t targets = scl_lua_check_size(L, 3, 0, INT32_MAX, "targets");
  if (lua_type(L, 4) != LUA_TFUNCTION)
    return luaL_error(L, "rows come from a function, and it got a %s", luaL_typename(L, 4));
  scl_source *source = scl_lua_new_owned(L, SCL_LUA_SOURCE, release_source, sizeof *source);
  *source = (scl_source){.class = &generator_class, .rows = rows, .cols = cols, .targets = targets};
  scl_lua_tie(L, -1, 4);
  push_generators(L);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, source);
  lua_pop(L, 1);
  return 1;
}

/* core.source_sparse(source) -> whether its rows come as sparse rows */
static int source_sparse(lua_State *L) {
  return scl_lua_give_boolean(L, scl_lua_check_source(L, 1)->sparse);
}

/* core.is_sparse_flow(source, stages) -> whether its rows are sparse after these stages */
static int is_sparse_flow(lua_State *L) {
  const scl_flow flow = scl_lua_flow(L, 1, 2, 0);
  return scl_lua_give_boolean(L, scl_flow_is_sparse(&flow));
}

/* core.read_rows(source, first, count) -> X, y or nil */
static int source_rows(lua_State *L) {
  scl_source *source = scl_lua_check_source(L, 1);
  const size_t first = scl_lua_check_size(L, 2, 1, source->rows + 1, "first") - 1,
               count = scl_lua_check_size(L, 3, 0, source->rows - first, "count");
  scl_matrix *x = scl_lua_new_matrix(L), *y = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L, scl_matrix_create(count, source->cols, SCL_DTYPE_FLOAT64, x, &error));
  SCL_LUA_TRY(L, scl_matrix_create(count, source->targets, SCL_DTYPE_FLOAT64, y, &error));
  SCL_LUA_TRY(L, scl_source_read(source, first, count, x, source->targets > 0 ? y : NULL, &error));
  return 2;
}

/* core.source_columns(source, places) -> a source of those columns (from 1), in that order */
static int source_columns(lua_State *L) {
  scl_source *from = scl_lua_check_source(L, 1);
  const size_t count = scl_lua_copy_list(L, 2, SCL_LUA_MOST, "columns");
  const size_t *places = scl_lua_list_places(L, 2, count, 1, from->cols, "columns");
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_source(L), scl_source,
                      scl_source_columns(from, places, count, &made, &error));
  scl_lua_tie(L, -1, 1);
  return 1;
}

/* ------------ flows */

scl_fitted_stage **scl_lua_check_stages(lua_State *L, int place, size_t *count) {
  enum { MOST_STAGES = 10000 };
  const bool none = place == 0 || lua_isnoneornil(L, place);
  *count = none ? 0 : scl_lua_copy_list(L, place, MOST_STAGES, "stages");
  scl_fitted_stage **list = lua_newuserdatauv(L, (*count + 1) * sizeof *list, 0);
  for (size_t i = 0; i < *count; i++) {
    lua_rawgeti(L, place, (lua_Integer)i + 1);
    list[i] = scl_lua_check_handle(L, -1, SCL_LUA_STAGE);
    lua_pop(L, 1);
  }
  return list;
}

/* Handles are used by the running call, so the flow is valid until it ends. With a map its dtype
 * decides the dtype of the features. */
scl_flow scl_lua_flow(lua_State *L, int source, int stages, int map) {
  scl_flow flow = {
      .source = scl_lua_check_source(L, source), .groups = 1, .dtype = SCL_DTYPE_FLOAT64};
  flow.stages = scl_lua_check_stages(L, stages, &flow.n_stages);
  if (map != 0 && !lua_isnoneornil(L, map)) {
    flow.map = scl_lua_check_handle(L, map, SCL_LUA_MAP);
    flow.dtype = scl_map_dtype(flow.map);
  }
  return flow;
}

SCL_LUA_CALLS(scl_lua_source_calls, {"source", source_matrix, 2}, {"source_size", source_size, 1},
              {"source_sparse", source_sparse, 1}, {"is_sparse_flow", is_sparse_flow, 2},
              {"generator", source_generator, 4}, {"read_rows", source_rows, 3},
              {"source_columns", source_columns, 2});
