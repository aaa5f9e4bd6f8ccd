/* scullery.core: the progress of long work. The engine reports events to one hook, set here, which
 * writes them to the terminal and the log (progress/progress.h) and calls the function that a
 * script passed as the option `progress`. Lua code opens levels of its own, such as the folds of a
 * search. */
#include "progress/progress.h"
#include "base/characters.h"
#include "base/interrupt.h"
#include "lua/call.h"
#include "lua/handle.h"
#include "plugin/host.h"
#include "processes/processes.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* core.hide_progress(): take the progress line off the terminal, so that something else can be
 * written there */
static int hide_progress(lua_State *L) {
  (void)L;
  scl_progress_hide();
  return 0;
}

/* A plugin's line takes the place of the progress line, which comes back with the next report.
 * Called on any thread. */
static void show_log(const char *text) {
  (void)fputs("\r\033[Kscullery: ", stderr);
  scl_write_shown(stderr, text, strlen(text));
  (void)fputc('\n', stderr);
}

/* ------------ a script's function */

static struct {
  bool on;
  int function;     /* a reference in the registry: the function that is called */
  int raised;       /* a reference: the error that it raised, false where it raised none */
  pthread_t thread; /* events of other threads are not reported to it */
  bool busy;        /* it runs: what it does is not reported to it again */
  bool stopped;     /* it stopped the work, which ends at its next look at the flag */
} watcher = {.function = LUA_NOREF, .raised = LUA_NOREF};

/* done and total of a level, as fields of the table on top: whole where things are counted. */
static void set_done(lua_State *L, const scl_level *level) {
  const bool whole = level->counted || level->unit != NULL;
  const char *const keys[] = {"done", "total"};
  const double values[] = {level->done, level->total};
  for (int i = 0; i < 2; i++) {
    lua_Integer number;
    if (whole && lua_numbertointeger(values[i], &number) && (double)number == values[i]) {
      lua_pushinteger(L, number);
      lua_setfield(L, -2, keys[i]);
    } else {
      scl_lua_set_number(L, keys[i], values[i]);
    }
  }
}

/* function, level -> false where it returned false */
static int call_watcher(lua_State *L) {
  const scl_level *level = lua_touserdata(L, 2);
  size_t count;
  const char *unit;
  const double now = scl_progress_clock();
  const scl_level *levels = scl_levels(&count), *known = scl_level_known(levels, count, now);
  lua_settop(L, 1);
  lua_createtable(L, 0, 10);
  scl_lua_set_text(L, "stage", level->name);
  set_done(L, level);
  SCL_LUA_NUMBERS(L, {"loss", level->loss}, {"rows", level->rows}, {"seconds", now - level->began},
                  {"rate", scl_progress_rate(levels, count, now, &unit)},
                  {"left", known == NULL ? NAN : scl_level_left(known, now)});
  if (level->iteration > 0) scl_lua_set_integer(L, "iteration", (size_t)level->iteration);
  lua_createtable(L, (int)count, 0); /* the open levels, the outermost first */
  for (size_t i = 0; i < count; i++) {
    lua_createtable(L, 0, 3);
    scl_lua_set_text(L, "name", levels[i].name);
    set_done(L, &levels[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "levels");
  lua_call(L, 1, 1);
  return 1;
}

/* Stop the engine as Ctrl-C does: it returns through its calls and releases their memory. The error
 * of the function is raised after that, by unwatch. */
static void stop(void) {
  watcher.stopped = true;
  scl_interrupt();
}

/* L: the state that runs. */
static void call_watcher_protected(lua_State *L, const scl_level *level) {
  if (watcher.busy || watcher.stopped || L == NULL || !lua_checkstack(L, 8)) return;
  watcher.busy = true;
  lua_rawgeti(L, LUA_REGISTRYINDEX, watcher.function);
  lua_pushcfunction(L, call_watcher);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, (void *)(uintptr_t)level);
  const int status = lua_pcall(L, 2, 1, 0);
  if (!watcher.on) { /* it unwatched itself */
    lua_pop(L, 1);
  } else if (status != LUA_OK) {
    lua_pushcfunction(L, scl_lua_as_text);
    lua_pushvalue(L, -2);
    (void)lua_pcall(L, 1, 1, 0); /* __tostring may raise another error */
    scl_processes_stopped(lua_isstring(L, -1) ? lua_tostring(L, -1) : "a progress function failed");
    lua_pop(L, 1);
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
  scl_processes_stopped(NULL);
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

/* ------------ levels of Lua code */

#define SCL_LUA_LEVEL "scullery.level"

/* A level that Lua code opened. The engine owns the level; closing one closes all within it. */
typedef struct lua_level {
  size_t number; /* of the engine's level; 0: closed */
  double done;   /* steps so far, so that step() without a number counts one more */
} lua_level;

/* The Lua state whose level:step() reports now, NULL while the engine itself reports. */
static lua_State *stepping;

/* core.level(name[, total[, unit]]) -> level: it and all levels within it go when it is closed,
 * which <close> does. Collected without: it alone goes. */
static int level_open(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const double total = luaL_optnumber(L, 2, NAN);
  const char *unit = luaL_optstring(L, 3, NULL);
  lua_settop(L, 3);
  lua_level *level = lua_newuserdatauv(L, sizeof *level, 1);
  *level = (lua_level){0};
  luaL_setmetatable(L, SCL_LUA_LEVEL);
  lua_pushvalue(L, 3); /* keeps the unit's text */
  lua_setiuservalue(L, -2, 1);
  level->number = scl_level_open(name, unit, total);
  return 1;
}

/* level:step([done[, loss]]): how many are done; without a number one more */
static int level_step(lua_State *L) {
  lua_level *level = luaL_checkudata(L, 1, SCL_LUA_LEVEL);
  level->done = luaL_optnumber(L, 2, level->done + 1);
  const double loss = luaL_optnumber(L, 3, NAN);
  const bool was_stopped = watcher.stopped;
  lua_State *before = stepping;
  stepping = L;
  (void)scl_level_step(level->number, level->done, loss);
  stepping = before;
  if (watcher.stopped && !was_stopped) scl_lua_check_interrupt(L); /* this report stopped it */
  return 0;
}

/* "level fold, 2 of 5 done" */
static int level_tostring(lua_State *L) {
  const lua_level *level = luaL_checkudata(L, 1, SCL_LUA_LEVEL);
  size_t count;
  const scl_level *levels = scl_levels(&count);
  for (size_t i = 0; level->number > 0 && i < count; i++) {
    if (levels[i].number != level->number) continue;
    char total[40] = "";
    if (!isnan(levels[i].total)) (void)snprintf(total, sizeof total, " of %.15g", levels[i].total);
    char done[40];
    (void)snprintf(done, sizeof done, "%.15g", levels[i].done);
    lua_pushfstring(L, "level %s, %s%s done", levels[i].name, done, total);
    return 1;
  }
  lua_pushliteral(L, "a level of progress that is closed");
  return 1;
}

static int level_close(lua_State *L) {
  lua_level *level = luaL_checkudata(L, 1, SCL_LUA_LEVEL);
  scl_level_close(level->number, false);
  level->number = 0;
  return 0;
}

static int level_collect(lua_State *L) {
  const lua_level *level = luaL_checkudata(L, 1, SCL_LUA_LEVEL);
  scl_level_close(level->number, true);
  return 0;
}

/* ------------ the hook */

/* Whether this event is shown. Events of a follower (a thread that works for another) are shown
 * only where the leading thread has reported nothing for a second. */
static bool has_turn(scl_progress_event event) {
  static const double PATIENCE = 1;
  static double leader_time; /* time of the last event of the leading thread */
  const double time = scl_progress_clock();
  if (scl_progress_follows()) return event == SCL_PROGRESS_REPORT && time - leader_time > PATIENCE;
  leader_time = time;
  return true;
}

/* The engine's hook, called on any thread for each event. Output goes to the terminal and the log
 * under one lock. The script's function runs without the lock, on the thread that watches, because
 * it may call the engine. */
static void hook(scl_progress_event event, const scl_level *level) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const scl_level copy = *level; /* the function may open and close levels */
  pthread_mutex_lock(&lock);
  if (has_turn(event)) {
    scl_progress_show(event, level);
    scl_progress_log(event, level);
  }
  pthread_mutex_unlock(&lock);
  if (event == SCL_PROGRESS_REPORT && watcher.on &&
      pthread_equal(watcher.thread, pthread_self())) /* the state of another thread may be closed */
    call_watcher_protected(stepping != NULL ? stepping : scl_lua_running(), &copy);
}

SCL_LUA_CALLS(scl_lua_progress_calls, {"hide_progress", hide_progress, -1}, {"watch", watch, -1},
              {"unwatch", unwatch, -1}, {"level", level_open, -1});

void scl_lua_open_progress(lua_State *L) {
  luaL_newmetatable(L, SCL_LUA_LEVEL);
  SCL_LUA_FUNCTIONS(L, {"step", level_step}, {"close", level_close}, {"__close", level_close},
                    {"__gc", level_collect}, {"__tostring", level_tostring});
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  scl_progress_set_hook(hook);
  if (isatty(STDERR_FILENO)) scl_host_set_log(show_log);
}
