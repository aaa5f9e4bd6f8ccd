/* scullery.core: saved models, checked and put together by core/model, as Lua values.
 * lua/scullery/model/restoring.lua adds the recipe, which Lua alone can make again. */
#include "lua/saved.h"
#include "lua/handle.h"
#include "lua/json.h"
#include "lua/matrix.h"
#include "lua/texts.h"
#include "model/component.h"
#include "model/features.h"
#include "model/restore.h"

#define SCL_LUA_SAVED "scullery.saved"
#define SCL_LUA_RESTORED "scullery.restored"

/* ------------ files */

/* An open file of a saved model. */
typedef struct opened {
  scl_saved saved;
  const cJSON **components; /* of the description, in the order in which they were pushed */
  size_t count, room;
} opened;

static void release_opened(void *pointer) {
  opened *file = pointer;
  scl_saved_close(&file->saved);
  SCL_RELEASE(file->components, file);
}

const scl_saved *scl_lua_check_saved(lua_State *L, int place) {
  const opened *file = scl_lua_check_handle(L, place, SCL_LUA_SAVED);
  return &file->saved;
}

/* The table of a component or of a row stage says which one of the file it is. */
static void number_component(lua_State *L, void *context, const cJSON *object) {
  opened *file = context;
  const char *mark = scl_saved_mark(object);
  if (mark == NULL || (strcmp(mark, "component") != 0 && strcmp(mark, "stage") != 0)) return;
  const cJSON **grown =
      scl_grow(file->components, file->count, &file->room, sizeof *file->components);
  if (grown == NULL) luaL_error(L, "not enough memory for a model");
  file->components = grown;
  file->components[file->count++] = object;
  scl_lua_set_integer(L, "@place", file->count);
}

/* core.saved_open(path[, bytes]) -> saved, the description as a table, whose components have a
 * number "@place", SHA-256. bytes: of a file in memory, which sentences call `path`. */
static int saved_open(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  size_t size = 0;
  const char *bytes = luaL_optlstring(L, 2, NULL, &size);
  opened *file = scl_lua_new_owned(L, SCL_LUA_SAVED, release_opened, sizeof *file);
  SCL_LUA_TRY(L, scl_saved_open(bytes == NULL ? path : NULL, bytes, size, path, SCL_LOADER_SCRIPT,
                                &file->saved, &error));
  scl_lua_push_json(L, &file->saved.json, file->saved.body, number_component, file);
  lua_pushstring(L, file->saved.file.sha256);
  return 3;
}

/* core.saved_matrix(saved, name) -> matrix of a float64 or float32 array of two dimensions, all of
 * it finite */
static int saved_matrix(lua_State *L) {
  const opened *file = scl_lua_check_handle(L, 1, SCL_LUA_SAVED);
  const char *name = luaL_checkstring(L, 2);
  const scl_saved_shape any = {SIZE_MAX, SIZE_MAX, false};
  SCL_LUA_PUSH_MATRIX(L, scl_saved_matrix(&file->saved, name, any, out, &error));
  return 1;
}

/* core.saved_has(saved, name) -> whether it has such an array, perhaps without its zeros */
static int saved_has(lua_State *L) {
  const opened *file = scl_lua_check_handle(L, 1, SCL_LUA_SAVED);
  return scl_lua_give_boolean(L, scl_saved_has_matrix(&file->saved, luaL_checkstring(L, 2)));
}

/* ------------ components */

/* core.saved_component(saved, place) -> kind, name and, where a script has defined another of that
 * name since, a sentence */
static int saved_component(lua_State *L) {
  const opened *file = scl_lua_check_handle(L, 1, SCL_LUA_SAVED);
  const scl_component *found;
  scl_error note = {0};
  SCL_LUA_TRY(L, scl_saved_find_component(
                     &file->saved,
                     file->components[scl_lua_check_place(L, 2, file->count, "component")], &found,
                     &note, &error));
  lua_pushstring(L, scl_kind_name(found->plugin.kind));
  lua_pushstring(L, found->plugin.name);
  lua_pushstring(L, note.message[0] == 0 ? NULL : note.message);
  return 3;
}

/* core.saved_settings(saved, place, instance): nothing where every option that was in force when
 * the component was saved is so in the instance */
static int saved_settings(lua_State *L) {
  const opened *file = scl_lua_check_handle(L, 1, SCL_LUA_SAVED);
  const scl_instance *instance = scl_lua_check_handle(L, 3, SCL_LUA_INSTANCE);
  SCL_LUA_TRY(L, scl_saved_check_settings(
                     &file->saved,
                     file->components[scl_lua_check_place(L, 2, file->count, "component")],
                     instance, &error));
  return 0;
}

/* ------------ what was fitted */

static void release_restored(void *pointer) {
  scl_restored_release(pointer);
  scl_release(pointer);
}

/* A handle of what was restored: work with parts that run functions of a script stays in its
 * thread. */
static void mark_script(lua_State *L, const opened *file) {
  if (file->saved.script) scl_lua_mark_script(L, lua_gettop(L));
}

/* The map becomes Lua's: a handle on the stack, and *map NULL. */
static void push_map(lua_State *L, const opened *file, scl_map **map) {
  void **slot = scl_lua_new_map(L);
  *slot = *map;
  *map = NULL;
  mark_script(L, file);
  scl_lua_account(L, scl_map_bytes(*slot));
}

/* core.saved_features(saved) -> the map of fitted features */
static int saved_features(lua_State *L) {
  opened *file = scl_lua_take_handle(L, 1, SCL_LUA_SAVED);
  const cJSON *body = file->saved.body, *said;
  char **names = NULL;
  scl_error error = {0};
  scl_map *map = NULL;
  scl_status status = scl_saved_table(body, "map", &said, &error);
  if (status == SCL_STATUS_OK)
    status = scl_saved_features(&file->saved, scl_saved_find(body, "features"), said, 0, false,
                                &map, &error);
  if (status == SCL_STATUS_OK) {
    const size_t dim = scl_map_dim(map);
    status = scl_saved_names(&file->saved, body, dim, &names, &error);
    scl_release_texts(names, names == NULL ? 0 : dim);
  }
  if (status != SCL_STATUS_OK) scl_map_destroy(map);
  scl_lua_check(L, status, &error);
  push_map(L, file, &map);
  return 1;
}

/* The field `name` of the table on top: restored stages, each in a handle that owns it. */
static void set_stages(lua_State *L, const char *name, scl_fitted_stage **stages, size_t count) {
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    const bool script = stages[i]->instance != NULL && stages[i]->instance->script;
    *scl_lua_new_stage(L) = stages[i];
    stages[i] = NULL;
    if (script) scl_lua_mark_script(L, lua_gettop(L));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, name);
}

/* The fields `after` and `base` of the table on top: what its field `map` borrows. */
static void set_base(lua_State *L, const opened *file, scl_restored *r) {
  lua_getfield(L, -1, "map");
  const int map = lua_gettop(L), table = map - 1;
  lua_pushvalue(L, table);
  set_stages(L, "after", r->after, r->n_after);
  push_map(L, file, &r->base);
  scl_lua_tie(L, map, -1);
  lua_setfield(L, table, "base");
  lua_getfield(L, table, "after");
  scl_lua_tie_list(L, map, lua_gettop(L), r->n_after);
  lua_settop(L, table);
}

/* core.saved_model(saved) -> {stages, map, base, after, learnt, weights, intercept, pilot, encoder} of a
 * fitted pipeline: what it has */
static int saved_model(lua_State *L) {
  opened *file = scl_lua_take_handle(L, 1, SCL_LUA_SAVED);
  scl_restored *r = scl_lua_new_owned(L, SCL_LUA_RESTORED, release_restored, sizeof *r);
  SCL_LUA_TRY(L, scl_restore(&file->saved, r, &error));
  lua_newtable(L);
  set_stages(L, "stages", r->stages, r->n_stages);
  if (r->map != NULL) {
    push_map(L, file, &r->map);
    lua_setfield(L, -2, "map");
  }
  if (r->base != NULL) set_base(L, file, r);
  if (r->learnt != NULL) {
    *scl_lua_new_model(L) = r->learnt;
    r->learnt = NULL;
    mark_script(L, file);
    lua_setfield(L, -2, "learnt");
  }
  if (r->weights.storage != NULL) {
    scl_lua_set_matrix(L, "weights", &r->weights);
    scl_lua_set_matrix(L, "intercept", &r->intercept);
  }
  if (r->pilot.storage != NULL) scl_lua_set_matrix(L, "pilot", &r->pilot);
  if (r->encoder != NULL) {
    *scl_lua_new_text_encoder(L) = r->encoder;
    r->encoder = NULL;
    lua_setfield(L, -2, "encoder");
  }
  return 1;
}

SCL_LUA_CALLS(scl_lua_saved_calls, {"saved_open", saved_open, 2}, {"saved_matrix", saved_matrix, 2},
              {"saved_has", saved_has, 2}, {"saved_component", saved_component, 2},
              {"saved_settings", saved_settings, 3}, {"saved_features", saved_features, 1},
              {"saved_model", saved_model, 1});
