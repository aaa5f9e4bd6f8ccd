/* Calls of the functions that a script gave for slots (define/define.h), and what an instance keeps
 * in its Lua state. */
#include "lua/call.h"
#include "base/interrupt.h"
#include "define/internal.h"
#include "lua/options.h"
#include "plugin/host.h"

#include <pthread.h>
#include <string.h>

/* Guards the lists `ended` and the counts of instances: instances end on any thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ------------ Lua states */

/* The address is the key of the script in the Lua registry. */
static const char script_key;

/* Release the references of ended instances. L is NULL when the Lua state closes, which releases
 * all references itself: only the list is freed. */
static void end_script(lua_State *L, scl_script *script) {
  pthread_mutex_lock(&lock);
  if (L == NULL) script->open = false;
  scl_held *ended = script->ended;
  script->ended = NULL;
  pthread_mutex_unlock(&lock);
  while (ended != NULL) {
    scl_held *next = ended->next;
    if (L != NULL) luaL_unref(L, LUA_REGISTRYINDEX, ended->reference);
    scl_release(ended);
    ended = next;
  }
}

/* __gc of the script when its Lua state closes. The script itself stays: definitions point to
 * it. */
static int close_script(lua_State *L) {
  scl_script *script = *(scl_script **)lua_touserdata(L, 1);
  if (script != NULL) end_script(NULL, script);
  return 0;
}

/* The script of this Lua state, NULL if none was made. */
static scl_script *script_found(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &script_key);
  scl_script *const *place = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return place == NULL ? NULL : *place;
}

scl_script *scl_script_of(lua_State *L) {
  scl_script *script = script_found(L);
  if (script != NULL) return script;
  scl_script **place = scl_lua_new_guarded(L, sizeof(scl_script *), close_script);
  script = scl_allocate_zero(sizeof *script);
  if (script == NULL) luaL_error(L, "not enough memory for a definition");
  script->open = true;
  *place = script;
  lua_rawsetp(L, LUA_REGISTRYINDEX, &script_key);
  return script;
}

/* Add the reference to the list that the next run of Lua releases, as this may be another thread. A
 * closed state has released its registry itself. The lock is held. */
static void end_held(scl_script *script, scl_held *held) {
  if (!script->open) {
    scl_release(held);
    return;
  }
  held->next = script->ended;
  script->ended = held;
}

/* Let the next run of Lua release the table of fields. Without memory for the request the table is
 * kept as long as the Lua state. The lock is held. */
static void let_fields_go(scl_definition *definition) {
  scl_held *held = scl_allocate_zero(sizeof *held);
  if (held == NULL) return;
  held->reference = definition->fields;
  end_held(definition->script, held);
}

void scl_definition_replace(scl_definition *definition) {
  pthread_mutex_lock(&lock);
  if (!definition->replaced && definition->instances == 0) let_fields_go(definition);
  definition->replaced = true;
  pthread_mutex_unlock(&lock);
}

/* ------------ running a function */

/* How deeply a function may start work that calls functions of scripts again: the stacks of Lua and
 * of C are limited. */
enum { MOST_NESTED = 5 };

/* A call of a slot: the argument of run_slot. */
typedef struct running_slot {
  const scl_defined *self;
  const char *field;
  lua_CFunction body;
  void *context;
} running_slot;

/* Arrange the stack as SCL_DEFINED_... says and run the body. The light userdata of the slot at
 * place 1 is replaced by the context. */
static int run_slot(lua_State *L) {
  const running_slot *slot = lua_touserdata(L, 1);
  const scl_definition *definition = slot->self->definition;
  end_script(L, definition->script);
  lua_pushlightuserdata(L, slot->context);
  lua_replace(L, SCL_DEFINED_CONTEXT);
  lua_rawgeti(L, LUA_REGISTRYINDEX, definition->fields);
  if (slot->self->options == NULL)
    lua_pushnil(L);
  else
    lua_rawgeti(L, LUA_REGISTRYINDEX, slot->self->options->reference);
  lua_getfield(L, SCL_DEFINED_FIELDS, slot->field);
  return slot->body(L);
}

/* The error of Lua on top of the stack, as a status. */
static scl_status fail_with_lua(lua_State *L, const char *field, int status, scl_error *error) {
  const char *text = lua_tostring(L, -1);
  if (text == NULL) text = "an error that is not a text";
  if (scl_is_interrupt(text)) return scl_fail(error, SCL_STATUS_CANCELLED, "interrupted!");
  return scl_fail(error, status == LUA_ERRMEM ? SCL_STATUS_NO_MEMORY : SCL_STATUS_INTERNAL,
                  "%s%s%s", field, *field == 0 ? "" : ": ", text);
}

/* Calls of functions of scripts on this thread, one within another. */
static _Thread_local size_t nested;

/* The Lua state that may run the function now, with room on its stack; NULL with a sentence. */
static lua_State *enter_script(const scl_definition *definition, const char *field,
                               scl_error *error) {
  lua_State *L = scl_lua_running_here();
  const char *why = NULL;
  if (!definition->script->open)
    why = "in a Lua state that was closed";
  else if (L == NULL)
    why = "and this thread does not run that script";
  else if (nested < MOST_NESTED && !lua_checkstack(L, LUA_MINSTACK))
    (void)scl_fail_memory(error, LUA_MINSTACK * 16, "Lua's stack");
  else if (nested >= MOST_NESTED)
    (void)scl_fail(error, SCL_STATUS_UNSUPPORTED,
                   "%s: its function asks for work that calls it again, %d deep: that is the limit",
                   field, MOST_NESTED);
  else if (script_found(L) != definition->script)
    why = "in another Lua state than the one that runs";
  else
    return L;
  if (why != NULL)
    (void)scl_fail(error, SCL_STATUS_UNSUPPORTED,
                   "%s cannot be called: it was defined in Lua by %s, %s", field, definition->place,
                   why);
  return NULL;
}

/* The function runs on the stack of the Lua state that started the running call, above the values
 * of that call. The top is restored, and no error of Lua jumps over the engine's C frames in
 * between: they become a status. */
scl_status scl_defined_call(const void *self, const char *field, lua_CFunction body, void *context,
                            scl_error *error) {
  scl_error kept = {0};
  if (error == NULL) error = &kept;
  const scl_defined *defined = self;
  running_slot slot = {defined, field, body, context};
  lua_State *L = enter_script(defined->definition, field, error);
  if (L == NULL) return error->status;
  const int top = lua_gettop(L);
  lua_pushcfunction(L, scl_lua_as_text);
  lua_pushcfunction(L, run_slot);
  lua_pushlightuserdata(L, &slot);
  nested++;
  const int status = lua_pcall(L, 1, 0, top + 1);
  nested--;
  const scl_status result =
      status == LUA_OK ? SCL_STATUS_OK : fail_with_lua(L, field, status, error);
  lua_settop(L, top);
  return result;
}

/* ------------ create and destroy */

/* Make the table of options, and let the instance keep a reference to it. self->options is set
 * before luaL_ref, which may raise: scl_defined_destroy then releases it. */
static int take_options(lua_State *L) {
  scl_defined *self = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const scl_settings *settings = &scl_instance_of(self)->settings;
  scl_lua_push_settings(L, settings);
  scl_held *held = scl_allocate_zero(sizeof *held);
  if (held == NULL) return luaL_error(L, "not enough memory for options");
  self->options = held;
  held->reference = LUA_NOREF;
  held->reference = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

/* Call the function `check`, if there is one: it may refuse options that contradict each other. */
static int check_options(lua_State *L) {
  if (lua_isnil(L, SCL_DEFINED_FUNCTION)) return 0;
  lua_pushvalue(L, SCL_DEFINED_OPTIONS);
  lua_call(L, 1, 0);
  return 0;
}

/* Read the options, let the script check them, and complete the instance as its kind does. */
static scl_status complete_instance(scl_defined *self, scl_error *error) {
  const scl_define_kind *kind = self->definition->kind;
  SCL_TRY(scl_defined_call(self, "", take_options, self, error));
  SCL_TRY(scl_defined_call(self, "check", check_options, self, error));
  return kind->complete == NULL ? SCL_STATUS_OK
                                : scl_defined_call(self, "", kind->complete, self, error);
}

/* The slot `create`. The host has checked the options and filled `base`. The descriptor is the
 * first member of the definition, so its address is that of the definition; components stay until
 * the process ends. After a failure the host does not call `destroy`, so that it is called here. */
scl_status scl_defined_create(void *instance, scl_error *error) {
  scl_defined *self = instance;
  const scl_plugin *plugin = scl_instance_of(self)->component->source;
  scl_definition *definition = (scl_definition *)(uintptr_t)plugin;
  self->definition = definition;
  pthread_mutex_lock(&lock);
  definition->instances++;
  pthread_mutex_unlock(&lock);
  const scl_status status = complete_instance(self, error);
  if (status != SCL_STATUS_OK) scl_defined_destroy(self);
  return status;
}

void scl_defined_destroy(void *instance) {
  scl_defined *self = instance;
  scl_definition *definition = self->definition;
  if (definition->kind->end != NULL) definition->kind->end(self);
  pthread_mutex_lock(&lock);
  if (self->options != NULL) end_held(definition->script, self->options);
  self->options = NULL;
  if (--definition->instances == 0 && definition->replaced) let_fields_go(definition);
  pthread_mutex_unlock(&lock);
}
