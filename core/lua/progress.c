/* scullery.core: how far long work is, as a line on a terminal and for a script's function. */
#include "base/progress.h"
#include "base/interrupt.h"
#include "lua/call.h"
#include "plugin/host.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* ------------------------------------------------------------ a line on a terminal, nothing in a
 * pipe */

static struct {
  double shown; /* when */
  bool visible;
  char label[64];
} line;

/* core.progress_label(text or nil): what stands before the line until it is changed */
static int progress_label(lua_State *L) {
  (void)snprintf(line.label, sizeof line.label, "%s", luaL_optstring(L, 1, ""));
  return 0;
}

/* Work of more than a second, ten times a second. */
static void show_line(const scl_progress *p) {
  const double now = scl_progress_clock(), took = now - p->began, share = p->done / p->total;
  char middle[64] = "";
  if (p->ended) {
    if (line.visible) (void)fprintf(stderr, "\r\033[K");
    line.visible = false;
    return;
  }
  if (took < 1 || now - line.shown < 0.1) return;
  if (p->unit != NULL)
    (void)snprintf(middle, sizeof middle, ", %.3g %s a second", p->done / took, p->unit);
  else if (!isnan(p->loss))
    (void)snprintf(middle, sizeof middle, ", loss %.4g", p->loss);
  (void)fprintf(stderr, "\r%s%s %3.0f%%%s", line.label, p->stage, 100 * share, middle);
  if (share > 0) (void)fprintf(stderr, ", %.0f s left", took * (1 - share) / share);
  (void)fprintf(stderr, "\033[K");
  (void)fflush(stderr);
  line.shown = now;
  line.visible = true;
}

/* A plugin's line takes the place of the progress line, which comes back with the next report. Called
 * on any thread. */
static void show_log(const char *text) { (void)fprintf(stderr, "\r\033[Kscullery: %s\n", text); }

/* ------------------------------------------------------------ a script's function */

static struct {
  bool on;
  int function; /* references */
  int raised;
  pthread_t thread;
  bool busy, stopped;
} watcher = {.function = LUA_NOREF, .raised = LUA_NOREF};

/* function, scl_progress -> false where it returned false */
static int call_watcher(lua_State *L) {
  const scl_progress *p = lua_touserdata(L, 2);
  lua_settop(L, 1);
  lua_createtable(L, 0, 7);
  scl_lua_set_text(L, "stage", p->stage);
  SCL_LUA_NUMBERS(L, {"done", p->done}, {"total", p->total}, {"loss", p->loss}, {"rows", p->rows},
                  {"seconds", scl_progress_clock() - p->began});
  if (p->iteration > 0) scl_lua_set_integer(L, "iteration", (size_t)p->iteration);
  lua_call(L, 1, 1);
  return 1;
}

/* The engine is told to stop as by Ctrl-C, and frees what it holds; an error waits until then. */
static void stop(void) {
  watcher.stopped = true;
  scl_interrupt();
}

static void tell_watcher(const scl_progress *p) {
  lua_State *L = scl_lua_running(); /* that which watched may be gone */
  if (p->ended || watcher.busy || watcher.stopped || L == NULL || !lua_checkstack(L, 8)) return;
  watcher.busy = true;
  lua_rawgeti(L, LUA_REGISTRYINDEX, watcher.function);
  lua_pushcfunction(L, call_watcher);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, (void *)(uintptr_t)p);
  const int status = lua_pcall(L, 2, 1, 0);
  if (!watcher.on) { /* it unwatched itself */
    lua_pop(L, 1);
  } else if (status != LUA_OK) {
    lua_rawseti(L, LUA_REGISTRYINDEX, watcher.raised);
    stop();
  } else {
    if (lua_isboolean(L, -1) && !lua_toboolean(L, -1)) stop();
    lua_pop(L, 1);
  }
  watcher.busy = false;
}

/* core.watch(f): f{ stage =, done =, total =, loss =, iteration =, rows =, seconds = } is called at
 * every report of this thread until core.unwatch(); where it returns false or raises an error the
 * work is stopped as by Ctrl-C. */
static int watch(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  if (watcher.on) return luaL_error(L, "a progress function is called already");
  lua_pushboolean(L, 0);
  const int raised = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_settop(L, 1);
  watcher.function = luaL_ref(L, LUA_REGISTRYINDEX);
  watcher.raised = raised;
  watcher.thread = pthread_self();
  watcher.stopped = false;
  watcher.on = true;
  return 0;
}

/* core.unwatch() -> whether the function stopped the work, and the error that it raised (false:
 * none) */
static int unwatch(lua_State *L) {
  const bool stopped = watcher.stopped;
  if (stopped) scl_interrupt_clear(); /* where the work ended before it looked */
  watcher.on = false;
  watcher.stopped = false;
  lua_pushboolean(L, stopped);
  lua_rawgeti(L, LUA_REGISTRYINDEX, watcher.raised);
  luaL_unref(L, LUA_REGISTRYINDEX, watcher.raised);
  luaL_unref(L, LUA_REGISTRYINDEX, watcher.function);
  watcher.raised = watcher.function = LUA_NOREF;
  return 2;
}

static bool on_terminal;

static void hook(const scl_progress *p) {
  if (on_terminal) show_line(p);
  if (watcher.on && pthread_equal(watcher.thread, pthread_self())) tell_watcher(p);
}

static int now(lua_State *L) {
  lua_pushnumber(L, scl_progress_clock());
  return 1;
}

void scl_lua_open_progress(lua_State *L) {
  on_terminal = isatty(STDERR_FILENO);
  scl_progress_set_hook(hook);
  if (on_terminal) scl_host_set_log(show_log);
  SCL_LUA_FUNCTIONS(L, {"progress_label", progress_label}, {"watch", watch}, {"unwatch", unwatch},
                    {"now", now});
}
