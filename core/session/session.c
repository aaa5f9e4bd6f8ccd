/* Sessions of scullery/fit.h: a Lua state each, whose calls take turns, because the glue of Lua
 * (lua/call.h) serves one thread at a time. */
#define _GNU_SOURCE
#include "session/tables.h"

#include "base/installation.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "progress/progress.h"
#include <errno.h>
#include <locale.h>
#include <lualib.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

int luaopen_scullery_core(lua_State *L);

struct scl_session {
  lua_State *L;
  scl_listener listener;
  atomic_bool stopped;  /* the call that runs was to end */
  scl_pipeline *closed; /* a list: their Lua values are released by the next call */
};

struct scl_pipeline {
  scl_session *session;
  int place; /* of its Lua value in the registry */
  scl_pipeline *next;
};

/* ------------ turns */

static struct {
  pthread_mutex_t turn;  /* checks for errors: a call within a call is refused */
  pthread_mutex_t lists; /* of the lists of closed pipelines: held for some instructions */
  locale_t plain;
  bool forked;
} calls;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(scl_session *) running;
/* Calls of scl_session_stop that may still set the flag: the end of a call waits for them, so that
 * none of them stops the next one. A count, as a signal handler can take no lock. */
static atomic_int stopping;

static void make_locks(void) {
  pthread_mutexattr_t checked;
  (void)pthread_mutexattr_init(&checked);
  (void)pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
  (void)pthread_mutex_init(&calls.turn, &checked);
  (void)pthread_mutex_init(&calls.lists, NULL);
  (void)pthread_mutexattr_destroy(&checked);
}

/* A child process has none of the pool's threads, and locks as they were. */
static void after_fork(void) {
  make_locks();
  calls.forked = true;
  atomic_store(&running, NULL);
  atomic_store(&stopping, 0);
}

static void show_nothing(const char *line) { (void)line; }

static void prepare(void) {
  make_locks();
  calls.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  (void)pthread_atfork(NULL, NULL, after_fork);
  scl_progress_show_by(show_nothing);
}

/* What a call changes of its thread. */
typedef struct changed {
  locale_t locale;
  bool serial;
} changed;

/* Wait for the turn of this session. */
static scl_status begin(scl_session *session, changed *out, scl_error *error) {
  if (session == NULL) return scl_fail(error, SCL_STATUS_BAD_OPTION, "there is no session");
  if (pthread_mutex_lock(&calls.turn) == EDEADLK)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "a listener called the session: it may only stop it");
  out->locale = calls.plain == (locale_t)0 ? (locale_t)0 : uselocale(calls.plain);
  out->serial = scl_pool_set_thread_serial(calls.forked);
  scl_interrupt_clear();
  atomic_store(&session->stopped, false);
  atomic_store(&running, session);
  return SCL_STATUS_OK;
}

static void end(const changed *before) {
  atomic_store(&running, NULL);
  while (atomic_load(&stopping) > 0)
    (void)sched_yield();
  scl_interrupt_clear();
  (void)scl_pool_set_thread_serial(before->serial);
  if (before->locale != (locale_t)0) (void)uselocale(before->locale);
  (void)pthread_mutex_unlock(&calls.turn);
}

void scl_session_stop(scl_session *session) {
  if (session == NULL) return;
  atomic_fetch_add(&stopping, 1);
  if (atomic_load(&running) == session) {
    atomic_store(&session->stopped, true);
    scl_interrupt();
  }
  atomic_fetch_sub(&stopping, 1);
}

/* A hook of Lua: recipes that compute for long in Lua alone end too. */
static void look(lua_State *L, lua_Debug *where) {
  (void)where;
  if (scl_interrupted()) (void)luaL_error(L, "interrupted!");
}

/* ------------ calls */

/* What a call is given and gives. Lua values of it are on the stack of the session only while it
 * runs. */
typedef struct request {
  scl_session *session;
  const char *text; /* recipe or topic */
  const void *bytes;
  size_t size;
  const scl_table *table;
  const scl_targets *targets;
  uint32_t keep;
  scl_pipeline *pipeline;
  const char *what;
  void *result;
  size_t rows, columns;
  scl_dtype dtype;
} request;

/* The function `name` of scullery.model.session, behind session.guarded. */
static void push_guarded(lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "scullery.model.session");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "guarded");
  lua_getfield(L, -2, name);
  lua_remove(L, -3);
}

/* The text on top of the stack as the caller's own, with a zero byte behind it. */
static void take_text(lua_State *L, request *r) {
  const char *text = luaL_checklstring(L, -1, &r->size);
  char *copy = scl_allocate(r->size + 1);
  if (copy == NULL) luaL_error(L, "not enough memory for %I bytes", (LUAI_UACINT)r->size);
  memcpy(copy, text, r->size + 1);
  r->result = copy;
}

/* Release the Lua values of closed pipelines. */
static void release_closed(scl_session *session) {
  (void)pthread_mutex_lock(&calls.lists);
  scl_pipeline *list = session->closed;
  session->closed = NULL;
  (void)pthread_mutex_unlock(&calls.lists);
  while (list != NULL) {
    scl_pipeline *next = list->next;
    luaL_unref(session->L, LUA_REGISTRYINDEX, list->place);
    scl_release(list);
    list = next;
  }
}

/* Why a call ended. */
static scl_status status_of(const scl_session *session, int result, const char *message) {
  if (atomic_load(&session->stopped)) return SCL_STATUS_CANCELLED;
  if (result == LUA_ERRMEM || strstr(message, "not enough memory") != NULL)
    return SCL_STATUS_NO_MEMORY;
  return SCL_STATUS_BAD_DATA;
}

/* Run `body` with the request in the session's state. Garbage is collected behind it, because it
 * refers to arrays of the caller. */
static scl_status run(request *r, lua_CFunction body, scl_error *error) {
  changed before;
  SCL_TRY(begin(r->session, &before, error));
  lua_State *L = r->session->L;
  release_closed(r->session);
  lua_settop(L, 0);
  lua_pushcfunction(L, scl_lua_as_text);
  lua_pushcfunction(L, body);
  lua_pushlightuserdata(L, r);
  lua_sethook(L, look, LUA_MASKCOUNT, 1 << 16);
  const int result = lua_pcall(L, 1, 0, 1);
  lua_sethook(L, NULL, 0, 0);
  scl_status status = SCL_STATUS_OK;
  if (result != LUA_OK) {
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error";
    status = scl_fail(error, status_of(r->session, result, message), "%s", message);
  } else if (error != NULL) {
    error->status = SCL_STATUS_OK;
    error->message[0] = 0;
  }
  lua_settop(L, 0);
  (void)lua_gc(L, LUA_GCCOLLECT);
  end(&before);
  return status;
}

/* ------------ listeners */

/* The progress function of a call: the session is upvalue 1. */
static int report(lua_State *L) {
  const scl_session *session = lua_touserdata(L, lua_upvalueindex(1));
  lua_getfield(L, 1, "stage");
  lua_getfield(L, 1, "done");
  lua_getfield(L, 1, "total");
  lua_getfield(L, 1, "loss");
  const char *stage = lua_tostring(L, -4);
  const int on = session->listener.report(session->listener.context, stage == NULL ? "" : stage,
                                          luaL_optnumber(L, -3, NAN), luaL_optnumber(L, -2, NAN),
                                          luaL_optnumber(L, -1, NAN));
  if (on == 0) atomic_store(&((scl_session *)(uintptr_t)session)->stopped, true);
  lua_pushboolean(L, on);
  return 1;
}

/* The progress function, or nil where nobody listens. */
static void push_report(lua_State *L, scl_session *session) {
  if (session->listener.report == NULL) {
    lua_pushnil(L);
    return;
  }
  lua_pushlightuserdata(L, session);
  lua_pushcclosure(L, report, 1);
}

/* io.stderr:write(...) of the library: a line, without its end and "scullery: ". */
static int write_warning(lua_State *L) {
  const scl_session *session = lua_touserdata(L, lua_upvalueindex(1));
  const int count = lua_gettop(L);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (int i = 2; i <= count; i++) {
    const char *part = luaL_tolstring(L, i, NULL);
    if (strcmp(part, "scullery: ") != 0 && strcmp(part, "\n") != 0)
      luaL_addvalue(&buffer);
    else
      lua_pop(L, 1);
  }
  luaL_pushresult(&buffer);
  if (session->listener.warn != NULL)
    session->listener.warn(session->listener.context, lua_tostring(L, -1));
  lua_pushvalue(L, 1);
  return 1;
}

scl_status scl_session_listen(scl_session *session, const scl_listener *listener,
                              scl_error *error) {
  changed before;
  SCL_TRY(begin(session, &before, error));
  session->listener = listener == NULL ? (scl_listener){0} : *listener;
  end(&before);
  return SCL_STATUS_OK;
}

/* ------------ opening */

/* Where the Lua files are: in a build tree below the folder of the library, else as installed. */
static void set_path(lua_State *L) {
  static const char *const ways[] = {"share/lua/5.4", SCULLERY_LUA_WAY};
  char folder[PATH_MAX] = "", path[PATH_MAX + 128];
  if (!scl_own_folder(folder)) luaL_error(L, "cannot find the folder of libscullery");
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    (void)snprintf(path, sizeof path, "%s/%s/scullery/init.lua", folder, ways[i]);
    FILE *file = fopen(path, "r");
    if (file == NULL) continue;
    (void)fclose(file);
    path[strlen(path) - strlen("/scullery/init.lua")] = 0;
    lua_getglobal(L, "package");
    lua_pushfstring(L, "%s/?.lua;%s/?/init.lua", path, path);
    lua_setfield(L, -2, "path");
    lua_pop(L, 1);
    return;
  }
  luaL_error(L, "the Lua files of Scullery are not installed: there is no %s", path);
}

/* io.stderr of this state is the listener's. */
static void hear_warnings(lua_State *L, scl_session *session) {
  lua_getglobal(L, "io");
  lua_newtable(L);
  lua_pushlightuserdata(L, session);
  lua_pushcclosure(L, write_warning, 1);
  lua_setfield(L, -2, "write");
  lua_setfield(L, -2, "stderr");
  lua_pop(L, 1);
}

static int open_library(lua_State *L) {
  request *r = lua_touserdata(L, 1);
  luaL_openlibs(L);
  set_path(L);
  luaL_requiref(L, "scullery.core", luaopen_scullery_core, 0);
  hear_warnings(L, r->session);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "scullery");
  lua_call(L, 1, 1);
  return 0;
}

scl_status scl_session_open(scl_session **out, scl_error *error) {
  *out = NULL;
  (void)pthread_once(&once, prepare);
  scl_session *session = scl_allocate_zero(sizeof *session);
  if (session == NULL) return scl_fail_memory(error, sizeof *session, "a session");
  session->L = luaL_newstate();
  request r = {.session = session};
  const scl_status status = session->L == NULL ? scl_fail_memory(error, 1 << 20, "a session")
                                               : run(&r, open_library, error);
  if (status != SCL_STATUS_OK)
    scl_session_close(session);
  else
    *out = session;
  return status;
}

void scl_session_close(scl_session *session) {
  changed before;
  if (session == NULL || begin(session, &before, NULL) != SCL_STATUS_OK) return;
  if (session->L != NULL) {
    release_closed(session);
    lua_close(session->L);
  }
  end(&before);
  scl_release(session);
}

void scl_free(void *memory) { scl_release(memory); }

/* ------------ fitting */

static int fit(lua_State *L) {
  request *r = lua_touserdata(L, 1);
  push_guarded(L, "fit");
  lua_getglobal(L, "require");
  lua_pushliteral(L, "scullery");
  lua_call(L, 1, 1);
  lua_pushstring(L, r->text);
  scl_push_rows(L, r->table, r->targets);
  lua_newtable(L);
  if (r->keep & SCL_KEEP_POSTERIOR) scl_lua_set_boolean(L, "posterior", true);
  if (r->keep & SCL_KEEP_PROBABILITIES) scl_lua_set_boolean(L, "probabilities", true);
  push_report(L, r->session);
  lua_call(L, 6, 1);
  take_text(L, r);
  return 0;
}

scl_status scl_session_fit(scl_session *session, const char *recipe, const scl_table *table,
                           const scl_targets *targets, uint32_t keep, void **model, size_t *size,
                           scl_error *error) {
  request r = {
      .session = session, .text = recipe, .table = table, .targets = targets, .keep = keep};
  *model = NULL;
  if (recipe == NULL) return scl_fail(error, SCL_STATUS_BAD_OPTION, "there is no recipe");
  if (keep >= SCL_KEEP_PROBABILITIES << 1)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "there is no bit 0x%x to keep", (unsigned)keep);
  SCL_TRY(run(&r, fit, error));
  *model = r.result;
  *size = r.size;
  return SCL_STATUS_OK;
}

static int help(lua_State *L) {
  request *r = lua_touserdata(L, 1);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "scullery.help");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "text");
  lua_pushstring(L, r->text);
  lua_call(L, 1, 1);
  take_text(L, r);
  return 0;
}

scl_status scl_session_help(scl_session *session, const char *topic, char **text,
                            scl_error *error) {
  request r = {.session = session, .text = topic == NULL ? "" : topic};
  *text = NULL;
  SCL_TRY(run(&r, help, error));
  *text = r.result;
  return SCL_STATUS_OK;
}

/* ------------ fitted pipelines */

static int load(lua_State *L) {
  request *r = lua_touserdata(L, 1);
  push_guarded(L, "load");
  lua_pushlstring(L, r->bytes, r->size);
  lua_call(L, 2, 1);
  r->pipeline->place = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

scl_status scl_session_load(scl_session *session, const void *model, size_t size,
                            scl_pipeline **out, scl_error *error) {
  scl_pipeline *pipeline = scl_allocate_zero(sizeof *pipeline);
  *out = NULL;
  if (pipeline == NULL) return scl_fail_memory(error, sizeof *pipeline, "a pipeline");
  pipeline->session = session;
  request r = {.session = session, .bytes = model, .size = size, .pipeline = pipeline};
  const scl_status status =
      model == NULL ? scl_fail(error, SCL_STATUS_BAD_DATA, "there are no bytes of a model")
                    : run(&r, load, error);
  if (status != SCL_STATUS_OK)
    scl_release(pipeline);
  else
    *out = pipeline;
  return status;
}

void scl_pipeline_close(scl_pipeline *pipeline) {
  if (pipeline == NULL) return;
  (void)pthread_mutex_lock(&calls.lists);
  pipeline->next = pipeline->session->closed;
  pipeline->session->closed = pipeline;
  (void)pthread_mutex_unlock(&calls.lists);
}

static int apply(lua_State *L) {
  request *r = lua_touserdata(L, 1);
  push_guarded(L, "apply");
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->pipeline->place);
  lua_pushstring(L, r->what);
  scl_push_rows(L, r->table, r->targets);
  lua_call(L, 4, 1);
  r->result = scl_take_numbers(L, &r->rows, &r->columns, &r->dtype);
  return 0;
}

scl_status scl_pipeline_apply(scl_pipeline *pipeline, int32_t what, const scl_table *table,
                              const scl_targets *targets, void **values, size_t *rows,
                              size_t *columns, scl_dtype *dtype, scl_error *error) {
  static const char *const words[] = {"transform", "deviations", "importance"};
  *values = NULL;
  if (pipeline == NULL) return scl_fail(error, SCL_STATUS_BAD_OPTION, "there is no pipeline");
  if (what < 0 || (size_t)what >= sizeof words / sizeof *words)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "a pipeline does not apply %d", (int)what);
  request r = {.session = pipeline->session,
               .pipeline = pipeline,
               .what = words[what],
               .table = table,
               .targets = targets};
  SCL_TRY(run(&r, apply, error));
  *values = r.result;
  *rows = r.rows;
  *columns = r.columns;
  *dtype = r.dtype;
  return SCL_STATUS_OK;
}

static int describe(lua_State *L) {
  request *r = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->pipeline->place);
  (void)luaL_tolstring(L, -1, NULL);
  take_text(L, r);
  return 0;
}

scl_status scl_pipeline_describe(scl_pipeline *pipeline, char **text, scl_error *error) {
  *text = NULL;
  if (pipeline == NULL) return scl_fail(error, SCL_STATUS_BAD_OPTION, "there is no pipeline");
  request r = {.session = pipeline->session, .pipeline = pipeline};
  SCL_TRY(run(&r, describe, error));
  *text = r.result;
  return SCL_STATUS_OK;
}
