/* scullery.core: models that are not linear in the features, which the solver itself makes, saves
 * and loads as named arrays. Models of a file are loaded by core/model (saved.c); model_load is for
 * the checker and for tests. */
#include "lua/model.h"

#include "lua/arrays.h"
#include "lua/list.h"

static void release_model(void *model) { scl_model_destroy(model); }

void **scl_lua_new_model(lua_State *L) {
  return scl_lua_new_handle(L, SCL_LUA_MODEL, release_model);
}

/* ------------ named arrays */

static void release_archive(void *archive) {
  scl_archive_close(archive);
  scl_release(archive);
}

scl_array_archive *scl_lua_new_archive(lua_State *L) {
  scl_array_archive *archive =
      scl_lua_new_owned(L, "scullery.archive", release_archive, sizeof *archive);
  scl_archive_open(archive);
  return archive;
}

void scl_lua_push_archive(lua_State *L, const scl_array_archive *archive) {
  lua_newtable(L);
  for (size_t i = 0; i < archive->count; i++) {
    scl_lua_push_array(L, &archive->entries[i].array);
    lua_setfield(L, -2, archive->entries[i].name);
  }
}

/* core.model_save(model) -> {features =, targets =, dtype =, arrays = {name = {dtype =, shape =,
 * bytes =}}} */
static int model_save(lua_State *L) {
  const scl_model *model = scl_lua_check_handle(L, 1, SCL_LUA_MODEL);
  scl_array_archive *archive = scl_lua_new_archive(L);
  SCL_LUA_TRY(L, scl_model_save(model, archive, &error));
  lua_newtable(L);
  SCL_LUA_INTEGERS(L, {"features", scl_model_features(model)},
                   {"targets", scl_model_targets(model)});
  scl_lua_set_text(L, "dtype", scl_dtype_name(scl_model_dtype(model)));
  scl_lua_push_archive(L, archive);
  lua_setfield(L, -2, "arrays");
  return 1;
}

/* Put the field `arrays` of the table at `place` into the archive, which copies them. */
static void read_arrays(lua_State *L, int place, scl_array_archive *archive) {
  lua_getfield(L, place, "arrays");
  scl_lua_copy_table(L, lua_gettop(L), "arrays");
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    if (lua_type(L, -2) != LUA_TSTRING) luaL_error(L, "an array of the saved model has no name");
    const char *name = lua_tostring(L, -2);
    const scl_array array = scl_lua_check_array(L, name);
    SCL_LUA_TRY(L, archive->archive.put(&archive->archive, name, &array, &error));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* The solver checks its own arrays; a model of another shape than declared is refused by the
 * loader. */
int scl_lua_load_model(lua_State *L, scl_lua_loader loader) {
  scl_instance *solver = scl_lua_check_instance(L, 1, SCL_KIND_SOLVER);
  scl_lua_copy_table(L, 2, "a saved model");
  scl_array_archive *archive = scl_lua_new_archive(L);
  read_arrays(L, 2, archive);
  lua_getfield(L, 2, "features");
  lua_getfield(L, 2, "targets");
  lua_getfield(L, 2, "dtype");
  const int last = lua_gettop(L);
  const size_t features = scl_lua_check_size(L, last - 2, 1, INT32_MAX, "features"),
               targets = scl_lua_check_size(L, last - 1, 1, INT32_MAX, "targets");
  const scl_dtype dtype = scl_lua_check_dtype(L, last);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_model(L), scl_model,
                      loader(solver, archive, features, targets, dtype, &made, &error));
  return 1;
}

/* core.model_load(solver, what core.model_save gave) -> model */
static int model_load(lua_State *L) { return scl_lua_load_model(L, scl_model_load); }

SCL_LUA_CALLS(scl_lua_model_calls, {"model_save", model_save, 1}, {"model_load", model_load, 2});
