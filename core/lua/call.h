/* Running calls from Lua into the engine. Lua code may run while the engine works: functions that
 * give rows or watch progress, finalizers, other coroutines. Whatever it closes, collects or
 * raises, what a call uses stays until that call ends. */
#ifndef SCULLERY_LUA_CALL_H
#define SCULLERY_LUA_CALL_H

#include "lua/glue.h"

/* An engine object that Lua code holds by a handle, other objects as their part, and running calls
 * while they use it: released when the last of them lets go. */
typedef struct scl_lua_object scl_lua_object;
struct scl_lua_object {
  const char *name; /* "scullery.map" */
  void *pointer;    /* NULL until it is made */
  void (*release)(void *);
  size_t references;
  size_t uses; /* by running calls, by itself or as a part */
  bool alone;  /* one of them changes it */
  bool script; /* work with it may call functions of the script, and stays in its thread */
  size_t depth, count;
  scl_lua_object **parts; /* count of them */
};

/* NULL where memory is short; it comes with one reference. */
scl_lua_object *scl_lua_object_create(const char *name, void (*release)(void *));
/* One reference less; NULL does nothing. */
void scl_lua_object_drop(scl_lua_object *object);
/* `part` lives as long as `whole`. Raises where memory is short or parts are nested too deeply. */
void scl_lua_object_add(lua_State *L, scl_lua_object *whole, scl_lua_object *part);

/* The running call uses the object until it ends. alone: it changes the object. Raises where
 * another call that still runs does so, or, alone, uses it at all. */
void scl_lua_use(lua_State *L, scl_lua_object *object, bool alone);
/* The matrix at `place`, as it is now, for the running call: what closes the Lua value takes
 * nothing away. For matrices that are read while Lua code may run. */
const scl_matrix *scl_lua_hold_matrix(lua_State *L, int place);
/* The object comes from the running call, where there is one: where that uses an object whose
 * `script` is set, this one's is set as well. */
void scl_lua_made(lua_State *L, scl_lua_object *object);
/* The Lua state of the innermost running call, NULL where there is none. */
lua_State *scl_lua_running(void);
/* The same on the thread that runs the script, NULL on any other. */
lua_State *scl_lua_running_here(void);

/* Functions that run as such calls, with the most arguments that they take: more are dropped, fewer
 * come as nil, so that place `arguments + 1` is not theirs.
 *
 *   SCL_LUA_CALLS(L, {"transform", transform, 4}, ...) */
typedef struct scl_lua_call {
  const char *name;
  lua_CFunction function;
  int arguments;
} scl_lua_call;
void scl_lua_set_calls(lua_State *L, size_t count, const scl_lua_call *calls);
#define SCL_LUA_CALLS(L, ...) scl_lua_set_calls(L, SCL_LUA_LIST(scl_lua_call, __VA_ARGS__))

#endif
