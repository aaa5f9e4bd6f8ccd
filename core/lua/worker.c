/* scullery.core: worker processes of experiments (base/worker.h), and the time and memory that
 * this process has used. lua/scullery/experiment/workers.lua starts the workers and reads their
 * reports. */
#define _GNU_SOURCE
#include "base/worker.h"
#include "base/pool.h"
#include "base/usage.h"
#include "lua/handle.h"
#include "lua/list.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKER "scullery.worker"

static void close_worker(void *worker) { scl_worker_close(worker); }

/* core.worker_start(settings, threads): this program again, as a worker */
static int worker_start(lua_State *L) {
  const char *settings = scl_lua_check_path(L, 1);
  const size_t threads = scl_lua_check_size(L, 2, 1, SCL_POOL_MAX, "threads");
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_handle(L, WORKER, close_worker), scl_worker,
                      scl_worker_start(settings, threads, &made, &error));
  return 1;
}

/* core.worker_wait(workers, seconds): until one of the list prints, reports or ends */
static int worker_wait(lua_State *L) {
  enum { MOST = 4096 };
  const size_t count = scl_lua_copy_list(L, 1, MOST, "workers");
  const double seconds = luaL_checknumber(L, 2);
  luaL_argcheck(L, seconds >= 0 && seconds <= 60, 2, "takes 0 to 60 seconds");
  scl_worker **workers = lua_newuserdatauv(L, (count + 1) * sizeof(scl_worker *), 0);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    workers[i] = scl_lua_check_handle(L, lua_gettop(L), WORKER);
    lua_pop(L, 1); /* the list holds it */
  }
  SCL_LUA_TRY(L, scl_worker_wait(workers, count, seconds, &error));
  return 0;
}

/* core.worker_output(worker) -> what it has printed, nil where there is nothing now */
static int worker_output(lua_State *L) {
  enum { ROOM = 1 << 16 };
  luaL_Buffer text;
  scl_worker *worker = scl_lua_take_handle(L, 1, WORKER);
  char *room = luaL_buffinitsize(L, &text, ROOM);
  const size_t got = scl_worker_output(worker, room, ROOM);
  luaL_pushresultsize(&text, got);
  if (got == 0) lua_pushnil(L);
  return 1;
}

/* core.worker_message(worker) -> what it reports, nil where there is nothing now */
static int worker_message(lua_State *L) {
  char text[SCL_WORKER_MESSAGE];
  if (!scl_worker_message(scl_lua_take_handle(L, 1, WORKER), text)) return 0;
  return scl_lua_give_text(L, text);
}

/* core.worker_answer(worker): let it continue after its message, for which it waits */
static int worker_answer(lua_State *L) {
  scl_worker_answer(scl_lua_take_handle(L, 1, WORKER));
  return 0;
}

/* core.worker_ended(worker) -> nil while it runs; its exit status; or nil, the signal's number and
 * name ("SIGKILL, Killed") */
static int worker_ended(lua_State *L) {
  int status;
  if (!scl_worker_ended(scl_lua_take_handle(L, 1, WORKER), &status)) return 0;
  if (!WIFSIGNALED(status)) {
    lua_pushinteger(L, WEXITSTATUS(status));
    return 1;
  }
  const char *name = sigabbrev_np(WTERMSIG(status));
  lua_pushnil(L);
  lua_pushinteger(L, WTERMSIG(status));
  lua_pushfstring(L, "SIG%s, %s", name == NULL ? "?" : name, strsignal(WTERMSIG(status)));
  return 3;
}

/* core.worker_stop(worker[, at_once]): ask it to end, or end it */
static int worker_stop(lua_State *L) {
  scl_worker_signal(scl_lua_take_handle(L, 1, WORKER), lua_toboolean(L, 2) ? SIGKILL : SIGTERM);
  return 0;
}

/* core.worker_settings() -> what this process was started with as a worker, nil where it is not a
 * worker; whether a worker started it */
static int worker_settings(lua_State *L) {
  lua_pushstring(L, scl_worker_settings());
  lua_pushboolean(L, scl_worker_is_inside());
  return 2;
}

/* core.worker_report(text): send a message to the process that started this worker, and wait for
 * its answer */
static int worker_report(lua_State *L) {
  SCL_LUA_TRY(L, scl_worker_report(luaL_checkstring(L, 1), &error));
  return 0;
}

/* core.usage([reset]) -> processor seconds of this process, and the most memory that it held (since
 * the last reset) in bytes */
static int usage(lua_State *L) {
  if (lua_toboolean(L, 1)) scl_usage_peak_reset();
  lua_pushnumber(L, scl_usage_seconds());
  lua_pushinteger(L, (lua_Integer)scl_usage_peak());
  return 2;
}

/* core.machine_name() -> the machine's name */
static int machine_name(lua_State *L) {
  char name[256] = "";
  (void)gethostname(name, sizeof name - 1);
  return scl_lua_give_text(L, name);
}

SCL_LUA_CALLS(scl_lua_worker_calls, {"worker_start", worker_start, 2},
              {"worker_wait", worker_wait, 2}, {"worker_output", worker_output, 1},
              {"worker_message", worker_message, 1}, {"worker_answer", worker_answer, 1},
              {"worker_ended", worker_ended, 1}, {"worker_stop", worker_stop, 2},
              {"worker_report", worker_report, 1}, {"worker_settings", worker_settings, -1},
              {"usage", usage, -1}, {"machine_name", machine_name, -1});
