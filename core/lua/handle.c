#include "lua/handle.h"

/* The address is a key in the metatable of every type of handle, by which object_at() recognises
 * handles. */
static const char mark;

/* What the userdata holds. Its user value is a list of the values that it keeps (scl_lua_tie). */
typedef struct handle {
  scl_lua_object *object; /* NULL: released */
} handle;

/* __gc and __close: the object stays while calls or other objects use it. */
static int release_handle(lua_State *L) {
  handle *h = lua_touserdata(L, 1);
  scl_lua_object *object = h->object;
  h->object = NULL;
  scl_lua_object_drop(object);
  return 0;
}

static int handle_tostring(lua_State *L) {
  const handle *h = lua_touserdata(L, 1);
  luaL_getmetafield(L, 1, "__name");
  lua_pushfstring(L, h->object == NULL ? "%s (released)" : "%s", lua_tostring(L, -1));
  return 1;
}

/* The metatable of a type is made with its first handle. __metatable hides it, so that a script
 * cannot call __gc or change the type of a handle. */
void **scl_lua_new_handle(lua_State *L, const char *name, void (*release)(void *)) {
  handle *h = lua_newuserdatauv(L, sizeof *h, 1);
  h->object = NULL;
  if (luaL_newmetatable(L, name)) {
    static const luaL_Reg methods[] = {{"__gc", release_handle},
                                       {"__close", release_handle},
                                       {"__tostring", handle_tostring},
                                       {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
    scl_lua_set_boolean(L, "__metatable", 0);
    lua_pushboolean(L, 1);
    lua_rawsetp(L, -2, &mark);
  }
  lua_setmetatable(L, -2);
  h->object = scl_lua_object_create(name, release);
  if (h->object == NULL) luaL_error(L, "not enough memory for a %s", name);
  scl_lua_made(L, h->object);
  return &h->object->pointer;
}

void *scl_lua_new_owned(lua_State *L, const char *name, void (*release)(void *), size_t size) {
  void **slot = scl_lua_new_handle(L, name, release);
  *slot = scl_allocate_zero(size);
  if (*slot == NULL) luaL_error(L, "not enough memory for a %s", name);
  return *slot;
}

/* The object of the handle at `place`, whatever its type; NULL for other values and released
 * handles. */
static scl_lua_object *object_at(lua_State *L, int place) {
  if (lua_type(L, place) != LUA_TUSERDATA || !lua_getmetatable(L, place)) return NULL;
  const bool ours = lua_rawgetp(L, -1, &mark) == LUA_TBOOLEAN;
  lua_pop(L, 2);
  return ours ? ((const handle *)lua_touserdata(L, place))->object : NULL;
}

/* A handle is tied as an object (its pointer stays valid even if Lua collects it first) and as a
 * value; any other value as a value only. */
void scl_lua_tie(lua_State *L, int made, int place) {
  scl_lua_object *part = object_at(L, place);
  made = lua_absindex(L, made);
  place = lua_absindex(L, place);
  if (part != NULL) scl_lua_object_add(L, object_at(L, made), part);
  if (lua_getiuservalue(L, made, 1) != LUA_TTABLE) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, made, 1);
    lua_remove(L, -2);
  }
  lua_pushvalue(L, place);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

void scl_lua_tie_list(lua_State *L, int made, int place, size_t count) {
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, place, (lua_Integer)i + 1);
    scl_lua_tie(L, made, -1);
    lua_pop(L, 1);
  }
}

void scl_lua_mark_script(lua_State *L, int place) { object_at(L, place)->script = true; }

/* The type of the value at `place`, for sentences: "nothing", "a scullery.map"; left on the
 * stack. */
static const char *type_shown(lua_State *L, int place) {
  if (lua_type(L, place) == LUA_TUSERDATA && luaL_getmetafield(L, place, "__name") == LUA_TSTRING)
    return lua_pushfstring(L, "a %s", lua_tostring(L, -1));
  return lua_isnoneornil(L, place) ? "nothing"
                                   : lua_pushfstring(L, "a %s", luaL_typename(L, place));
}

/* The pointer of the handle at `place`, which the running call uses until it ends. */
static void *use(lua_State *L, int place, const char *name, bool alone) {
  const handle *h = luaL_testudata(L, place, name);
  if (h == NULL) luaL_error(L, "takes a %s, and got %s", name, type_shown(L, place));
  if (h->object == NULL || h->object->pointer == NULL) luaL_error(L, "this %s was released", name);
  scl_lua_use(L, h->object, alone);
  return h->object->pointer;
}

void *scl_lua_check_handle(lua_State *L, int place, const char *name) {
  return use(L, place, name, false);
}

void *scl_lua_take_handle(lua_State *L, int place, const char *name) {
  return use(L, place, name, true);
}

void *scl_lua_test_handle(lua_State *L, int place, const char *name) {
  return luaL_testudata(L, place, name) == NULL ? NULL : scl_lua_check_handle(L, place, name);
}

void *scl_lua_field_handle(lua_State *L, int place, const char *key, const char *name) {
  void *pointer = NULL;
  if (lua_getfield(L, place, key) != LUA_TNIL) pointer = scl_lua_check_handle(L, -1, name);
  lua_pop(L, 1); /* the call holds it */
  return pointer;
}

/* ------------ instances */

scl_instance *scl_lua_check_instance(lua_State *L, int place, scl_kind kind) {
  scl_instance *instance = scl_lua_check_handle(L, place, SCL_LUA_INSTANCE);
  SCL_LUA_TRY(L, scl_instance_expect(instance, kind, &error));
  return instance;
}

/* ------------ maps */

static void release_map(void *map) { scl_map_destroy(map); }

void **scl_lua_new_map(lua_State *L) { return scl_lua_new_handle(L, SCL_LUA_MAP, release_map); }
