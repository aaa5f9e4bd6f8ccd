/* Shared by define.c, which makes components, and call.c, which runs their functions. */
#ifndef SCULLERY_LUA_DEFINE_INTERNAL_H
#define SCULLERY_LUA_DEFINE_INTERNAL_H

#include "define/define.h"
#include <stdatomic.h>

/* A reference to a value of the Lua registry that an instance keeps. Instances may end on any
 * thread, also after Lua was closed, so the reference is put on a list that the next run of Lua
 * releases. */
typedef struct scl_held {
  int reference;
  struct scl_held *next;
} scl_held;

/* A Lua state in which components were defined. It stays until the process ends. */
typedef struct scl_script {
  atomic_bool open; /* until the Lua state is closed */
  scl_held *ended;  /* references to release; guarded by the lock of call.c */
} scl_script;

/* The script of this Lua state, which is made at first use; raises an error without memory. */
scl_script *scl_script_of(lua_State *L);
/* The slots `create` and `destroy` of every definition. */
scl_status scl_defined_create(void *self, scl_error *error);
void scl_defined_destroy(void *self);

/* A later definition takes the place of this one: its fields are released with its last
 * instance. */
void scl_definition_replace(scl_definition *definition);

#endif
