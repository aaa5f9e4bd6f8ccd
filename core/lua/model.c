/* scullery.core: models that are not linear in the features. */
#include "learn/score.h"
#include "lua/handle.h"
#include "plugin/solver.h"

#include <string.h>

static void release_model(void *model) { scl_model_destroy(model); }

void **scl_lua_new_model(lua_State *L) {
  return scl_lua_new_handle(L, SCL_LUA_MODEL, release_model, 0);
}

/* core.makes_models(solver) */
static int makes_models(lua_State *L) {
  lua_pushboolean(L, scl_solver_makes_models(scl_lua_check_instance(L, 1, SCL_KIND_SOLVER)));
  return 1;
}

/* core.model_decisions(source, stages, map, model, dtype[, block rows]) -> n x c; dtype where there
 * is no map */
static int model_decisions(lua_State *L) {
  scl_error error = {0};
  lua_settop(L, 6);
  const scl_model *model = scl_lua_check_handle(L, 4, SCL_LUA_MODEL);
  scl_flow flow = scl_lua_flow(L, 1, 2, 3);
  if (flow.map == NULL) flow.dtype = scl_lua_check_dtype(L, 5);
  if (!lua_isnoneornil(L, 6))
    flow.block_rows = scl_lua_check_size(L, 6, 1, (size_t)1 << 40, "block");
  flow.doing = "predicting";
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_model_decisions(&flow, model, out, &error), &error);
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

/* ------------------------------------------------------------ named arrays */

#define SCL_LUA_ARCHIVE "scullery.archive"

static void release_archive(void *archive) {
  scl_archive_close(archive);
  scl_release(archive);
}

static scl_array_archive *new_archive(lua_State *L) {
  void **slot = scl_lua_new_handle(L, SCL_LUA_ARCHIVE, release_archive, 0);
  scl_array_archive *archive = scl_allocate_zero(sizeof *archive);
  if (archive == NULL) luaL_error(L, "not enough memory for a model's arrays");
  scl_archive_open(archive);
  *slot = archive;
  return archive;
}

/* Types of arrays, by their name in a saved model, and bytes of a number. */
static const struct {
  const char *name;
  scl_dtype dtype;
  size_t size;
} types[] = {{"float64", SCL_DTYPE_FLOAT64, 8},
             {"float32", SCL_DTYPE_FLOAT32, 4},
             {"int32", SCL_DTYPE_INT32, 4},
             {"int64", SCL_DTYPE_INT64, 8}};
enum { TYPES = sizeof types / sizeof *types };

static size_t type_of(scl_dtype dtype) {
  size_t i = 0;
  while (i + 1 < TYPES && types[i].dtype != dtype)
    i++;
  return i;
}

static void push_array(lua_State *L, const scl_array *array) {
  const size_t type = type_of(array->dtype);
  lua_newtable(L);
  scl_lua_set_text(L, "dtype", types[type].name);
  lua_newtable(L);
  for (uint32_t i = 0; i < array->rank; i++) {
    lua_pushinteger(L, (lua_Integer)array->sizes[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "shape");
  lua_pushlstring(L, array->data, scl_array_count(array) * types[type].size);
  lua_setfield(L, -2, "bytes");
}

/* core.model_save(model) -> {features =, targets =, dtype =, arrays = {name = {dtype =, shape =,
 * bytes =}}} */
static int model_save(lua_State *L) {
  scl_error error = {0};
  const scl_model *model = scl_lua_check_handle(L, 1, SCL_LUA_MODEL);
  scl_array_archive *archive = new_archive(L);
  scl_lua_check(L, scl_model_save(model, archive, &error), &error);
  lua_newtable(L);
  scl_lua_set_integer(L, "features", scl_model_features(model));
  scl_lua_set_integer(L, "targets", scl_model_targets(model));
  scl_lua_set_text(L, "dtype", scl_dtype_name(scl_model_dtype(model)));
  lua_newtable(L);
  for (size_t i = 0; i < archive->count; i++) {
    push_array(L, &archive->entries[i].array);
    lua_setfield(L, -2, archive->entries[i].name);
  }
  lua_setfield(L, -2, "arrays");
  return 1;
}

/* The array on top of the stack. Its sizes and bytes agree. */
static scl_array check_array(lua_State *L, const char *name) {
  scl_array array = {0};
  size_t type = 0, bytes;
  const int place = lua_gettop(L);
  luaL_checktype(L, place, LUA_TTABLE);
  lua_getfield(L, place, "dtype");
  lua_getfield(L, place, "shape");
  lua_getfield(L, place, "bytes");
  const char *dtype = luaL_checkstring(L, place + 1);
  luaL_checktype(L, place + 2, LUA_TTABLE);
  array.data = luaL_checklstring(L, place + 3, &bytes);
  while (type < TYPES && strcmp(types[type].name, dtype) != 0)
    type++;
  const size_t rank = (size_t)luaL_len(L, place + 2);
  if (type == TYPES || rank > 4)
    luaL_error(L, "array \"%s\" of the saved model has dtype %s and %d dimensions", name, dtype,
               (int)rank);
  array.dtype = types[type].dtype;
  array.rank = (uint32_t)rank;
  for (size_t i = 0; i < rank; i++) {
    lua_geti(L, place + 2, (lua_Integer)i + 1);
    array.sizes[i] = scl_lua_check_size(L, lua_gettop(L), 0, (size_t)1 << 53, "shape");
    lua_pop(L, 1);
  }
  if (scl_array_count(&array) * types[type].size != bytes)
    luaL_error(L, "array \"%s\" of the saved model has %d bytes, which is not its shape", name,
               (int)bytes);
  lua_settop(L, place);
  return array;
}

static void read_arrays(lua_State *L, int place, scl_array_archive *archive) {
  scl_error error = {0};
  lua_getfield(L, place, "arrays");
  luaL_checktype(L, -1, LUA_TTABLE);
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    if (lua_type(L, -2) != LUA_TSTRING) luaL_error(L, "an array of the saved model has no name");
    const char *name = lua_tostring(L, -2);
    const scl_array array = check_array(L, name);
    scl_lua_check(L, archive->archive.put(&archive->archive, name, &array, &error), &error);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* core.model_load(solver, what core.model_save gave) -> model */
static int model_load(lua_State *L) {
  scl_error error = {0};
  scl_model *model = NULL;
  scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  scl_array_archive *archive = new_archive(L);
  read_arrays(L, 2, archive);
  lua_getfield(L, 2, "features");
  lua_getfield(L, 2, "targets");
  lua_getfield(L, 2, "dtype");
  const size_t features = scl_lua_check_size(L, 4, 1, INT32_MAX, "features"),
               targets = scl_lua_check_size(L, 5, 1, INT32_MAX, "targets");
  const scl_dtype dtype = scl_lua_check_dtype(L, 6);
  void **slot = scl_lua_new_model(L);
  scl_lua_check(L, scl_model_load(solver, archive, features, targets, dtype, &model, &error),
                &error);
  *slot = model;
  return 1;
}

void scl_lua_open_model(lua_State *L) {
  SCL_LUA_FUNCTIONS(L, {"makes_models", makes_models}, {"model_decisions", model_decisions},
                    {"model_save", model_save}, {"model_load", model_load});
}
