/* scullery.core: models that are not linear in the features. */
#include "learn/score.h"
#include "lua/handle.h"

#include <string.h>

static void release_model(void *model) {
  scl_model_destroy(model);
}

void **scl_lua_new_model(lua_State *L) {
  return scl_lua_new_handle(L, SCL_LUA_MODEL, release_model, 0);
}

/* core.makes_models(solver) */
static int makes_models(lua_State *L) {
  lua_pushboolean(L, scl_model_made_by(scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE)));
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

/* ---------------------------------------------------------------- bytes */

/* A buffer that grows, in a userdata of its own. */
typedef struct bytes {
  char *data;
  size_t size, room;
} bytes;

static void release_bytes(void *pointer) {
  bytes *b = pointer;
  scl_release(b->data);
  scl_release(b);
}

static scl_status append(void *context, const void *from, size_t size, scl_error *error) {
  bytes *b = context;
  if (size > b->room - b->size) {
    const size_t room = scl_max(2 * b->room, b->size + size);
    char *larger = scl_allocate(room);
    if (larger == NULL) return scl_fail_memory(error, room, "a model's bytes");
    if (b->size > 0) memcpy(larger, b->data, b->size);
    scl_release(b->data);
    b->data = larger;
    b->room = room;
  }
  if (size > 0) memcpy(b->data + b->size, from, size);
  b->size += size;
  return SCL_STATUS_OK;
}

/* core.model_save(model) -> its bytes */
static int model_save(lua_State *L) {
  scl_error error = {0};
  const scl_model *model = scl_lua_check_handle(L, 1, SCL_LUA_MODEL);
  void **slot = scl_lua_new_handle(L, "scullery.bytes", release_bytes, 0);
  bytes *b = scl_allocate_zero(sizeof *b);
  if (b == NULL) return luaL_error(L, "not enough memory for a model's bytes");
  *slot = b;
  scl_lua_check(L, scl_model_save(model, append, b, &error), &error);
  lua_pushlstring(L, b->data, b->size);
  return 1;
}

typedef struct reading {
  const char *at;
  size_t left;
} reading;

static scl_status take(void *context, void *to, size_t size, scl_error *error) {
  reading *r = context;
  if (size > r->left)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the model's bytes end %zu too early",
                    size - r->left);
  if (size > 0) memcpy(to, r->at, size);
  r->at += size;
  r->left -= size;
  return SCL_STATUS_OK;
}

/* core.model_load(solver, bytes) -> model */
static int model_load(lua_State *L) {
  scl_error error = {0};
  scl_model *model = NULL;
  scl_instance *solver = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  reading r;
  r.at = luaL_checklstring(L, 2, &r.left);
  void **slot = scl_lua_new_model(L);
  scl_lua_check(L, scl_model_load(solver, take, &r, &model, &error), &error);
  *slot = model;
  if (r.left > 0) return luaL_error(L, "%d bytes are left after the model", (int)r.left);
  return 1;
}

void scl_lua_open_model(lua_State *L) {
  static const luaL_Reg functions[] = {{"makes_models", makes_models},
                                       {"model_decisions", model_decisions},
                                       {"model_save", model_save},
                                       {"model_load", model_load},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
