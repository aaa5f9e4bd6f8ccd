/* Running calls from Lua into the engine. Lua code may run while the engine works: functions
 * that return rows or watch progress, finalizers, other coroutines. Such code may close, collect
 * or raise anything: the objects that a running call uses are released only after that call has
 * ended. */
#ifndef SCULLERY_LUA_CALL_H
#define SCULLERY_LUA_CALL_H

#include "lua/glue.h"

/* An engine object with a count of its references: handles of Lua code, objects of which it is a
 * part, and running calls that use it. It is released with the last reference. */
typedef struct scl_lua_object scl_lua_object;
struct scl_lua_object {
  const char *name; /* "scullery.map" */
  void *pointer;    /* NULL until it is made */
  void (*release)(void *);
  size_t references;
  size_t uses;  /* by running calls, by itself or as a part */
  bool alone;   /* a running call changes it: no other call may use it */
  bool script;  /* work with it may call functions of the script: it runs on one thread */
  size_t depth; /* 1 without parts, otherwise one more than the deepest part */
  size_t count;
  scl_lua_object **parts; /* count of them */
};

/* A new object with one reference; NULL where memory is short. */
scl_lua_object *scl_lua_object_create(const char *name, void (*release)(void *));
/* Remove one reference; NULL does nothing. */
void scl_lua_object_drop(scl_lua_object *object);
/* Keep `part` as long as `whole` exists. Raises where memory is short or parts are nested too
 * deeply. */
void scl_lua_object_add(lua_State *L, scl_lua_object *whole, scl_lua_object *part);

/* The running call uses the object until it ends. alone: it changes the object. Raises where
 * another call that still runs does so, or, alone, uses it at all. */
void scl_lua_use(lua_State *L, scl_lua_object *object, bool alone);
/* The matrix at `place`, with a reference to its storage that the running call keeps, so that Lua
 * code may close the value meanwhile. For matrices that are read while Lua code may run. */
const scl_matrix *scl_lua_hold_matrix(lua_State *L, int place);
/* Record that the running call made the object. If that call used an object whose `script` is set,
 * `script` of this object is set when the call ends. */
void scl_lua_made(lua_State *L, scl_lua_object *object);
/* The Lua state of the innermost running call, NULL where there is none. */
lua_State *scl_lua_running(void);
/* The same, but NULL on every thread except the one that runs the script. */
lua_State *scl_lua_running_here(void);

#endif
