/* Running calls: a stack of calls, and the objects that each uses. The counts of an object (uses,
 * alone) follow from the stack; they let another call refuse an object that is being changed. All
 * of this is touched by the thread that runs Lua only. */
#include "lua/call.h"

#include "base/pool.h"
#include "lua/sparse.h"

#include <string.h>

/* ------------ objects */

/* The deepest nesting of objects that use others, such as sources of sources. Work with an object
 * recurses through its parts, on the stack of C. */
enum { MOST_DEPTH = 32 };

scl_lua_object *scl_lua_object_create(const char *name, void (*release)(void *)) {
  scl_lua_object *object = scl_allocate_zero(sizeof *object);
  if (object != NULL)
    *object = (scl_lua_object){.name = name, .release = release, .references = 1, .depth = 1};
  return object;
}

void scl_lua_object_drop(scl_lua_object *object) {
  if (object == NULL || --object->references > 0) return;
  if (object->pointer != NULL) object->release(object->pointer);
  for (size_t i = 0; i < object->count; i++)
    scl_lua_object_drop(object->parts[i]);
  SCL_RELEASE(object->parts, object);
}

void scl_lua_object_add(lua_State *L, scl_lua_object *whole, scl_lua_object *part) {
  if (part->depth >= MOST_DEPTH)
    luaL_error(L, "a %s is made of objects within objects, %d deep: that is the limit", whole->name,
               MOST_DEPTH);
  scl_lua_object **parts = scl_allocate_array(whole->count + 1, sizeof(scl_lua_object *));
  if (parts == NULL) luaL_error(L, "not enough memory for a %s", whole->name);
  if (whole->count > 0) memcpy(parts, whole->parts, whole->count * sizeof *parts);
  parts[whole->count++] = part;
  part->references++;
  scl_release(whole->parts);
  whole->parts = parts;
  whole->depth = scl_max(whole->depth, part->depth + 1);
}

/* One use more or less of the object and of all its parts. */
static void count_uses(scl_lua_object *object, bool more) {
  object->uses = more ? object->uses + 1 : object->uses - 1;
  for (size_t i = 0; i < object->count; i++)
    count_uses(object->parts[i], more);
}

/* Whether a running call changes the object or one of its parts. */
static bool is_changing(const scl_lua_object *object) {
  bool changing = object->alone;
  for (size_t i = 0; !changing && i < object->count; i++)
    changing = is_changing(object->parts[i]);
  return changing;
}

/* ------------ running calls */

/* Lua allows 200 calls from C within each other. */
enum { MOST_CALLS = 256 };

/* The running calls, the innermost last, and their uses in the same order: the uses of a call begin
 * at its `first` and end where those of the next call begin. */
static struct {
  struct {
    lua_State *L;
    size_t first;  /* of its uses */
    size_t number; /* of all calls so far */
    bool script;   /* it uses an object whose work may call functions of the script */
  } calls[MOST_CALLS];
  size_t depth;
  struct {
    scl_lua_object *object;
    bool alone, made; /* made: by this call, which does not use it */
  } * uses;
  size_t count, room;
  size_t started; /* calls so far */
} running;

/* Whether this thread has entered a call: threads of the pool never do. */
static _Thread_local bool runs_scripts;

/* Whether work with the object, or with one of its parts, may call functions of the script. */
static bool is_of_script(const scl_lua_object *object) {
  bool found = object->script;
  for (size_t i = 0; !found && i < object->count; i++)
    found = is_of_script(object->parts[i]);
  return found;
}

/* End the call at `depth` and all within it. */
static void end_calls(size_t depth) {
  while (running.depth > depth) {
    const size_t last = running.depth - 1, first = running.calls[last].first;
    const bool script = running.calls[last].script;
    running.depth = last;
    while (running.count > first) {
      scl_lua_object *object = running.uses[--running.count].object;
      if (running.uses[running.count].alone) object->alone = false;
      if (running.uses[running.count].made)
        object->script |= script;
      else
        count_uses(object, false);
      scl_lua_object_drop(object);
    }
    if (script) scl_pool_set_serial(false);
  }
}

/* An error ends a coroutine without running __close of its mark, so calls of such coroutines are
 * ended here, before anything looks at the running call. */
lua_State *scl_lua_running(void) {
  while (running.depth > 0 && lua_status(running.calls[running.depth - 1].L) > LUA_YIELD)
    end_calls(running.depth - 1);
  return running.depth == 0 ? NULL : running.calls[running.depth - 1].L;
}

lua_State *scl_lua_running_here(void) { return runs_scripts ? scl_lua_running() : NULL; }

/* Make room for one more use of the running calls. Called before an object is marked as used, so
 * that an error leaves no object marked. */
static void reserve_use(lua_State *L) {
  if (running.count < running.room) return;
  const size_t room = 2 * running.room + 16;
  void *more = scl_allocate_array(room, sizeof *running.uses);
  if (more == NULL) luaL_error(L, "not enough memory for a call");
  if (running.count > 0) memcpy(more, running.uses, running.count * sizeof *running.uses);
  scl_release(running.uses);
  running.uses = more;
  running.room = room;
}

/* An object that changes may be used by one call only, because the engine's objects are not made
 * for two calls at once. Counts go down to the parts: a source that reads from another uses
 * both. */
void scl_lua_use(lua_State *L, scl_lua_object *object, bool alone) {
  if (scl_lua_running() != L) luaL_error(L, "a %s is used outside a call", object->name);
  if (is_changing(object) || (alone && object->uses > 0))
    luaL_error(L, "this %s is in use by a call that is still running", object->name);
  reserve_use(L);
  running.uses[running.count].object = object;
  running.uses[running.count].made = false;
  running.uses[running.count++].alone = alone;
  object->references++;
  object->alone = alone;
  count_uses(object, true);
  if (running.calls[running.depth - 1].script || !is_of_script(object)) return;
  running.calls[running.depth - 1].script = true;
  scl_pool_set_serial(true);
}

void scl_lua_made(lua_State *L, scl_lua_object *object) {
  if (scl_lua_running() != L) return;
  reserve_use(L);
  running.uses[running.count].object = object;
  running.uses[running.count].made = true;
  running.uses[running.count++].alone = false;
  object->references++;
}

static void release_view(void *view) {
  scl_matrix_release(view);
  scl_release(view);
}

static void release_csr_view(void *view) {
  scl_csr_release(view);
  scl_release(view);
}

/* `size` bytes of 0 that the running call keeps until it ends; release() ends and frees them. */
static void *hold_view(lua_State *L, const char *name, size_t size, void (*release)(void *)) {
  reserve_use(L);
  void *view = scl_allocate_zero(size);
  scl_lua_object *object = view == NULL ? NULL : scl_lua_object_create(name, release);
  if (object == NULL) {
    scl_release(view);
    luaL_error(L, "not enough memory for a call");
  }
  object->pointer = view;
  scl_lua_use(L, object, false);
  scl_lua_object_drop(object); /* the call alone has it */
  return view;
}

const scl_matrix *scl_lua_hold_matrix(lua_State *L, int place) {
  const scl_matrix *a = scl_lua_check_matrix(L, place);
  scl_matrix *view = hold_view(L, "scullery.matrix", sizeof *view, release_view);
  *view = scl_matrix_share(a);
  return view;
}

const scl_csr *scl_lua_hold_csr(lua_State *L, int place) {
  const scl_csr *a = scl_lua_check_csr(L, place);
  scl_csr *view = hold_view(L, "scullery.sparse", sizeof *view, release_csr_view);
  *view = scl_csr_share(a);
  return view;
}

/* ------------ entering and leaving */

#define SCL_LUA_MARK "scullery.call"
#define SCL_LUA_MARK_IN_COROUTINE "scullery.call_in_coroutine"

/* The call of a mark: its depth among the running calls, and its number among all calls, because a
 * later call can have the same depth. */
typedef struct call_mark {
  size_t depth, number;
} call_mark;

/* __close of a call's mark, on return and on errors, and __gc of one in a coroutine, which an error
 * may end without closing it. The call may have been ended before. */
static int leave(lua_State *L) {
  const call_mark *mark = lua_touserdata(L, 1);
  if (mark->depth < running.depth && running.calls[mark->depth].number == mark->number)
    end_calls(mark->depth);
  return 0;
}

/* The function is upvalue 1, its number of arguments upvalue 2. The mark is pushed behind them. */
static int enter(lua_State *L) {
  const int arguments = (int)lua_tointeger(L, lua_upvalueindex(2));
  lua_settop(L, arguments);
  luaL_checkstack(L, LUA_MINSTACK + 4, "a call");
  (void)scl_lua_running(); /* ends calls of coroutines that an error ended */
  if (running.depth == MOST_CALLS) return luaL_error(L, "calls are nested too deeply");
  call_mark *mark = lua_newuserdatauv(L, sizeof *mark, 1);
  *mark = (call_mark){running.depth, ++running.started};
  const bool in_coroutine = lua_pushthread(L) == 0;
  lua_setiuservalue(L, -2, 1); /* keeps the coroutine, also after an error, until its call ends */
  luaL_setmetatable(L, in_coroutine ? SCL_LUA_MARK_IN_COROUTINE : SCL_LUA_MARK);
  lua_toclose(L, -1);
  running.calls[running.depth].L = L;
  running.calls[running.depth].number = mark->number;
  running.calls[running.depth].script = false;
  running.calls[running.depth++].first = running.count;
  runs_scripts = true;
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* The metatable `name` of a mark. collected: the call also ends when the mark is collected, because
 * a coroutine that ends by an error does not run __close. */
static void make_mark(lua_State *L, const char *name, bool collected) {
  if (luaL_newmetatable(L, name)) {
    lua_pushcfunction(L, leave);
    lua_setfield(L, -2, "__close");
    if (collected) lua_pushcfunction(L, leave);
    if (collected) lua_setfield(L, -2, "__gc");
  }
  lua_pop(L, 1);
}

/* Each function becomes a closure of enter(), which sets up the stack and the mark before it. */
void scl_lua_set_calls(lua_State *L, const scl_lua_call *calls) {
  make_mark(L, SCL_LUA_MARK, false);
  make_mark(L, SCL_LUA_MARK_IN_COROUTINE, true);
  for (; calls->name != NULL; calls++) {
    lua_pushcfunction(L, calls->function);
    if (calls->arguments >= 0) {
      lua_pushinteger(L, calls->arguments);
      lua_pushcclosure(L, enter, 2);
    }
    lua_setfield(L, -2, calls->name);
  }
}
